//! For tests: host structs against the structs that naga finds in the WGSL.

/// A host struct as the host lays it out.
pub(crate) struct HostStruct {
    pub(crate) size: usize,
    pub(crate) fields: Vec<(&'static str, usize)>,
}

/// `host_struct!(PackedBody { position, hull, … })`: size, and the offset of each field. All fields must be named.
macro_rules! host_struct {
    ($type:ident { $($field:ident),* $(,)? }) => {{
        // A field left out would not compile.
        #[allow(dead_code)]
        fn all_fields($type { $($field: _),* }: $type) {}
        $crate::gpu::layout::HostStruct {
            size: size_of::<$type>(),
            fields: vec![$((stringify!($field), std::mem::offset_of!($type, $field))),*],
        }
    }};
}
pub(crate) use host_struct;

/// Compares size, names, order and offsets with the struct `name` of a kernel's WGSL; says what differs.
pub(crate) fn compare(wgsl: &str, name: &str, host: &HostStruct) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
    let (_, ty) = module
        .types
        .iter()
        .find(|(_, ty)| ty.name.as_deref() == Some(name))
        .ok_or_else(|| format!("there is no struct {name}"))?;
    let naga::TypeInner::Struct { members, span } = &ty.inner else {
        return Err(format!("{name} is no struct"));
    };
    let members: Vec<(&str, usize)> =
        members.iter().map(|member| (member.name.as_deref().unwrap_or(""), member.offset as usize)).collect();
    if members != host.fields {
        return Err(format!("{name}: WGSL has {members:?}, the host {:?}", host.fields));
    }
    // A uniform or a lone storage struct may end in padding that the host leaves out; an array's stride may not.
    if *span as usize != host.size {
        return Err(format!("{name}: WGSL takes {span} bytes, the host {}", host.size));
    }
    Ok(())
}
