//! The faces and edges of hulls on the device, for manifolds: uploaded when they are first asked for.

use crate::collide::narrow_phase::kernels::{FACE_WORDS, TABLE_HEAD};
use crate::collide::narrow_phase::manifold::joined_faces;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::scene::query_input::Scene;
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::parallel::map;

impl GpuArena {
    /// The tables of all hulls.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`] where one binding does not hold them; those of [`Buffer::new`].
    pub(crate) fn features(&self, scene: &Scene) -> Result<Buffer<u32>> {
        if let Some(made) = self.features.get() {
            return Ok(made.clone());
        }
        let words = tables(scene);
        let (needed_bytes, limit_bytes) = (4 * words.len() as u64, self.context.binding_limit());
        if needed_bytes > limit_bytes {
            let what = "one binding of the faces of all hulls";
            return Err(Error::MemoryLimit { what, needed_bytes, limit_bytes });
        }
        let made = Buffer::new(&self.context, "hullfield.collide.features", words.len())?;
        let mut frame = Frame::new(&self.context, "hullfield.collide.features")?;
        frame.upload(&made, 0, &words)?;
        // The queue runs in order, so nothing needs to wait for this.
        frame.send()?;
        Ok(self.features.get_or_init(|| made).clone())
    }
}

/// For each hull where its table begins, then the tables. A table has the number of faces, where the lists of the vertices' faces begin
/// and where those of their neighbours do; then the faces ([`FACE_WORDS`] each: unit normal, area, first corner, number of corners), these
/// lists (where each begins, and where the last ends, then their entries), and the corners of all faces.
fn tables(scene: &Scene) -> Vec<u32> {
    let hulls: Vec<u32> = (0..scene.hulls.len() as u32).collect();
    let joined = map(&hulls, |&id| {
        let hull = &scene.hulls[id as usize];
        let radius = f64::from(scene.supports.records[id as usize].radius);
        joined_faces(hull, scene.faces.of(&scene.hulls, id), radius)
    });
    let mut words: Vec<u32> = vec![0; hulls.len()];
    for (id, faces) in hulls.iter().zip(&joined) {
        let (hull, table) = (&scene.hulls[*id as usize], scene.faces.of(&scene.hulls, *id));
        let begin = words.len();
        words[*id as usize] = begin as u32;
        let lists = begin + TABLE_HEAD + FACE_WORDS * faces.len();
        let vertex_count = hull.vertices().len();
        let neighbours = lists + vertex_count + 1 + table.at.len();
        let neighbour_count: usize =
            (0..vertex_count as u32).map(|vertex| hull.neighbours(vertex).len()).sum();
        let mut corner = neighbours + vertex_count + 1 + neighbour_count;
        words.extend([faces.len(), lists, neighbours].map(|word| word as u32));
        for ((normal, area), corners) in table.faces.iter().zip(faces) {
            words.extend([normal.x, normal.y, normal.z, *area].map(|x| (x as f32).to_bits()));
            words.extend([corner as u32, corners.len() as u32]);
            corner += corners.len();
        }
        let entries = lists + vertex_count + 1;
        words.extend(table.starts.iter().map(|start| entries as u32 + start));
        words.extend(&table.at);
        let mut entry = neighbours + vertex_count + 1;
        for vertex in 0..vertex_count as u32 {
            words.push(entry as u32);
            entry += hull.neighbours(vertex).len();
        }
        words.push(entry as u32);
        words.extend((0..vertex_count as u32).flat_map(|vertex| hull.neighbours(vertex)));
        words.extend(faces.iter().flatten());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;

    #[test]
    fn tables_hold_faces_and_edges() {
        let hulls = [Hull::half_space(), Hull::cuboid([1.0; 3]).unwrap(), Hull::ball(1.0).unwrap()];
        let scene = Scene::new(&hulls).unwrap();
        let words = tables(&scene);
        let table = words[1] as usize;
        assert_eq!((words[table], words.len() > 100), (6, true));
        let (lists, neighbours) = (words[table + 1] as usize, words[table + 2] as usize);
        for vertex in 0..8 {
            let faces = &words[words[lists + vertex] as usize..words[lists + vertex + 1] as usize];
            let others = &words[words[neighbours + vertex] as usize..words[neighbours + vertex + 1] as usize];
            assert_eq!((faces.len(), others.len()), (3, 3));
            // The vertex is a corner of each of its faces, and as far out along the normal as the face.
            for &face in faces {
                let face = table + TABLE_HEAD + FACE_WORDS * face as usize;
                let [first, count] = [words[face + 4], words[face + 5]].map(|word| word as usize);
                assert!(words[first..first + count].contains(&(vertex as u32)) && count == 4);
                let normal = [0, 1, 2].map(|k| f32::from_bits(words[face + k]));
                let corner = hulls[1].vertices()[vertex];
                assert!((0..3).map(|k| normal[k] * corner[k]).sum::<f32>() > 0.999);
                assert!((f32::from_bits(words[face + 3]) - 4.0).abs() < 1e-5);
            }
        }
        assert!(words[words[0] as usize] == 0 && words[words[2] as usize] == 0);
    }
}
