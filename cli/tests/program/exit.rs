//! The end of the process.

use super::{BODIES, Folder, box_obj, fast_backend};

/// One run in fifty ended by a signal after printing everything. The CPU had settled all pairs while an upload to the device
/// was still running, and another thread unloaded the driver while `main` returned.
#[test]
fn a_very_short_run_ends_with_code_0() {
    let folder = Folder::new();
    folder.write("box.obj", box_obj()).write("bodies.csv", BODIES);
    let line = format!("collide --backend {} --hulls box.obj --bodies bodies.csv --exact", fast_backend());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..12 {
                    assert!(folder.run(&line).good().starts_with("a,b,status\n0,1,"));
                }
            });
        }
    });
}
