//! `hullfield completions` and `hullfield man`.

use std::io;
use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::{Failure, Result};
use crate::output::{check_folder, to_file, to_stdout};

/// The arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "bash: hullfield completions bash > ~/.local/share/bash-completion/completions/hullfield\n\
    zsh: hullfield completions zsh > _hullfield, in a folder of $fpath\n\
    fish: hullfield completions fish > ~/.config/fish/completions/hullfield.fish\n\
    PowerShell: hullfield completions powershell | Out-String | Invoke-Expression, in $PROFILE\n\
    Elvish: eval (hullfield completions elvish | slurp), in rc.elv"
)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Read a page: hullfield man collide | man -l -\n\
    Install all: hullfield man --out ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// Print the page of this subcommand instead of the program's
    #[arg(value_name = "SUBCOMMAND")]
    subcommand: Option<String>,
    /// Write hullfield.1 and a page for each subcommand, hullfield-SUBCOMMAND.1, into this folder, made where it is missing
    #[arg(long, value_name = "DIR", conflicts_with = "subcommand")]
    out: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &CompletionsArguments, mut program: Command) -> Result<()> {
    // The generator panics on a write error, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "hullfield", &mut script);
    to_stdout(|writer| writer.write_all(&script))
}

pub(crate) fn pages(arguments: &ManArguments, mut program: Command) -> Result<()> {
    check_folder("--out", arguments.out.as_deref())?;
    program.build();
    // clap adds the subcommand `help`; it needs no page.
    let known: Vec<&Command> =
        program.get_subcommands().filter(|command| command.get_name() != "help").collect();
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        for command in std::iter::once(&program).chain(known) {
            let page = page(command)?;
            to_file(&folder.join(format!("{}.1", title(command))), |writer| writer.write_all(&page))?;
        }
        return Ok(());
    }
    let command = match &arguments.subcommand {
        None => &program,
        Some(name) => {
            let names: Vec<&str> = known.iter().map(|command| command.get_name()).collect();
            let unknown = || Failure::input(format!("man: \"{name}\" is none of {}", names.join(", ")));
            known.iter().find(|command| command.get_name() == name).ok_or_else(unknown)?
        }
    };
    let page = page(command)?;
    to_stdout(|writer| writer.write_all(&page))
}

fn title(command: &Command) -> String {
    match command.get_name() {
        "hullfield" => "hullfield".to_owned(),
        name => format!("hullfield-{name}"),
    }
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let failed =
        |error: io::Error| Failure::Failed(format!("the manual page of {}: {error}", command.get_name()));
    let version = env!("CARGO_PKG_VERSION");
    let named = command.clone().version(version).display_name(title(command));
    Man::new(named)
        .title(title(command))
        .source(format!("hullfield {version}"))
        .render(&mut page)
        .map_err(failed)?;
    Ok(page)
}
