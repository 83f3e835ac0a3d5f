//! Which extensions a file may require.

/// The extensions that are read.
const READ: [&str; 2] = ["KHR_mesh_quantization", "EXT_mesh_gpu_instancing"];

/// Words in the names of extensions that change no shape.
const NEEDLESS: [&str; 11] = [
    "material",
    "texture",
    "technique",
    "light",
    "image",
    "audio",
    "animation",
    "xmp",
    "metadata",
    "mesh_features",
    "instance_features",
];

/// The sentence about Draco.
pub(super) const DRACO: &str = "its meshes are compressed with Draco (KHR_draco_mesh_compression), which is not read: save it without compression";

/// The sentence about meshopt.
pub(super) const MESHOPT: &str = "its buffers are compressed with meshopt (EXT_meshopt_compression), which is not read: save it without compression";

/// Why a file that requires an extension is not read. None if it is.
pub(super) fn refusal(required: &str) -> Option<String> {
    let lower = required.to_lowercase();
    if READ.contains(&required) || NEEDLESS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    if lower.contains("draco") {
        return Some(DRACO.to_owned());
    }
    if lower.contains("meshopt") {
        return Some(MESHOPT.to_owned());
    }
    Some(format!("it requires the extension \"{}\", which is not read", crate::text::excerpt(required)))
}
