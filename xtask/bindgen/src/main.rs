//! Makes the JavaScript of a module that was built for the browser: `hullfield-bindgen MODULE FOLDER`.
//!
//! A program of its own, so that other chores do not wait for its dependencies. The program of the crate `wasm-bindgen-cli` does the same
//! and takes four times as long to build, as it has a test runner with a server.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = args.as_slice() else {
        eprintln!("hullfield-bindgen MODULE FOLDER");
        return ExitCode::FAILURE;
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(false).remove_name_section(true).remove_producers_section(true);
    // Without an argument `init` loads the module from beside the program.
    bindgen.omit_default_module_path(false);
    // A module that has ended by a fault can be made anew.
    bindgen.reset_state_function(true);
    let made = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
