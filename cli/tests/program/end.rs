//! How the program ends.

use super::{BODIES, Folder, box_obj, either_backend};

/// Once in fifty times it ended by a signal, after all was printed: hulls were still on their way to the device when
/// the CPU had settled everything, and the driver was unloaded by another thread than the one that left `main`.
#[test]
fn it_ends_well_however_soon() {
    let folder = Folder::new();
    folder.write("box.obj", box_obj()).write("bodies.csv", BODIES);
    let line = format!("collide --backend {} --hulls box.obj --bodies bodies.csv --exact", either_backend());
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
