//! What JavaScript gives: every value is checked before it is used, as a panic in the module ends it.

use js_sys::{
    Array, Float32Array, Float64Array, Function, Int32Array, Object, Reflect, Uint8Array, Uint32Array,
};
use wasm_bindgen::convert::TryFromJsValue;
use wasm_bindgen::{JsCast, JsValue};

use crate::api::error::{invalid, wrong_count};

/// The result of reading a value; the error is an `Error` of JavaScript.
pub(crate) type Read<T> = Result<T, JsValue>;

/// What a value is, in a few words.
pub(crate) fn kind(value: &JsValue) -> String {
    if value.is_undefined() {
        return "missing".to_owned();
    }
    if value.is_null() {
        return "null".to_owned();
    }
    if let Some(text) = value.as_string() {
        return format!("'{}'", text.chars().take(60).collect::<String>());
    }
    if let Some(number) = value.as_f64() {
        return format!("the number {number}");
    }
    if let Some(object) = value.dyn_ref::<Object>() {
        let name = Reflect::get(object, &"constructor".into())
            .and_then(|constructor| Reflect::get(&constructor, &"name".into()));
        return match name.ok().and_then(|name| name.as_string()).filter(|name| !name.is_empty()) {
            Some(name) => format!("of the class {name}"),
            None => "an object".to_owned(),
        };
    }
    value.js_typeof().as_string().map_or_else(|| "something else".to_owned(), |name| format!("a {name}"))
}

/// A number, no text.
pub(crate) fn number(name: &str, value: &JsValue) -> Read<f64> {
    value.as_f64().ok_or_else(|| invalid(&format!("{name} is {}, it must be a number", kind(value))))
}

/// A number in f32; what f32 cannot hold becomes infinite, which the library refuses where it is no limit.
pub(crate) fn single(name: &str, value: &JsValue) -> Read<f32> {
    number(name, value).map(|number| number as f32)
}

/// A whole number from 0 to 2^32 - 1.
pub(crate) fn whole(name: &str, value: &JsValue) -> Read<u32> {
    let given = number(name, value)?;
    if given.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&given) {
        return Ok(given as u32);
    }
    Err(invalid(&format!("{name} is {given}, it must be a whole number from 0 to 4294967295")))
}

/// `true` or `false`.
pub(crate) fn flag(name: &str, value: &JsValue) -> Read<bool> {
    value.as_bool().ok_or_else(|| invalid(&format!("{name} is {}, it must be true or false", kind(value))))
}

/// One of some names.
pub(crate) fn choice<T: Copy>(name: &str, value: &JsValue, choices: &[(&str, T)]) -> Read<T> {
    let given = value.as_string();
    if let Some(&(_, found)) = choices.iter().find(|(text, _)| given.as_deref() == Some(*text)) {
        return Ok(found);
    }
    let allowed: Vec<String> = choices.iter().map(|(text, _)| format!("'{text}'")).collect();
    Err(invalid(&format!("{name} is {}, it must be one of {}", kind(value), allowed.join(", "))))
}

/// A point or a vector: an array or a typed array of `N` numbers.
pub(crate) fn vector<const N: usize>(name: &str, value: &JsValue) -> Read<[f64; N]> {
    let refuse = || invalid(&format!("{name} is {}, it must be an array of {N} numbers", kind(value)));
    let is_list =
        Array::is_array(value) || Float32Array::instanceof(value) || Float64Array::instanceof(value);
    if !is_list {
        return Err(refuse());
    }
    // Checked before the copy: a sparse array can have a length of billions.
    let count = length(value)?;
    if count as usize != N {
        return Err(wrong_count(&format!("{name} has {count} numbers, it must have {N}")));
    }
    let list = Array::from(value);
    let mut all = [0.0; N];
    for (at, to) in (0..).zip(&mut all) {
        *to = list.get(at).as_f64().ok_or_else(refuse)?;
    }
    Ok(all)
}

/// The length of an array or a typed array; 0 where its buffer was transferred.
pub(crate) fn length(list: &JsValue) -> Read<u32> {
    Ok(Reflect::get(list, &"length".into())?.as_f64().unwrap_or_default() as u32)
}

/// As [`vector`], in f32.
pub(crate) fn single_vector<const N: usize>(name: &str, value: &JsValue) -> Read<[f32; N]> {
    vector(name, value).map(|all| all.map(|number| number as f32))
}

/// A kind of typed array.
pub(crate) trait Typed: JsCast {
    /// Its numbers.
    type Number: bytemuck::Pod;
    /// Its name in JavaScript.
    const NAME: &'static str;
    /// How many numbers it has.
    fn count(&self) -> u32;
    /// Copies all of it into a slice of the same length.
    fn copy(&self, to: &mut [Self::Number]);
}

macro_rules! typed {
    ($($array:ident: $number:ty),*) => {
        $(impl Typed for $array {
            type Number = $number;
            const NAME: &'static str = stringify!($array);
            fn count(&self) -> u32 {
                self.length()
            }
            fn copy(&self, to: &mut [$number]) {
                self.copy_to(to);
            }
        })*
    };
}

typed! { Float32Array: f32, Float64Array: f64, Uint32Array: u32, Int32Array: i32, Uint8Array: u8 }

/// The numbers of a typed array.
pub(crate) fn numbers<A: Typed>(name: &str, value: &JsValue) -> Read<Vec<A::Number>> {
    let Some(array) = value.dyn_ref::<A>() else {
        return Err(invalid(&format!("{name} is {}, it must be a {}", kind(value), A::NAME)));
    };
    let count = array.count() as usize;
    let mut all = Vec::new();
    if all.try_reserve_exact(count).is_err() {
        return Err(invalid(&format!("{name}: there is no memory for {count} numbers")));
    }
    all.resize(count, bytemuck::Zeroable::zeroed());
    // An array whose buffer was transferred has no numbers, and can't be copied.
    if count > 0 {
        array.copy(&mut all);
    }
    Ok(all)
}

/// The rows of a typed array, each of `N` numbers.
pub(crate) fn rows<A: Typed, const N: usize>(name: &str, value: &JsValue) -> Read<Vec<[A::Number; N]>> {
    let all = numbers::<A>(name, value)?;
    let (rows, rest) = all.as_chunks::<N>();
    if rest.is_empty() {
        return Ok(rows.to_vec());
    }
    Err(wrong_count(&format!("{name} has {} numbers, it must have {N} for each row", all.len())))
}

/// Refuses a column whose length is not that of the first.
pub(crate) fn same_length(name: &str, given: usize, first: &str, expected: usize) -> Read<()> {
    if given == expected {
        return Ok(());
    }
    Err(wrong_count(&format!("{name} has {given} rows, {first} has {expected}: they must have as many")))
}

/// The fields of an object: options, or columns.
#[derive(Debug)]
pub(crate) struct Fields(JsValue);

impl Fields {
    /// The fields of an object that has no others than these; none where it is missing.
    pub(crate) fn of(name: &str, value: &JsValue, allowed: &[&str]) -> Read<Self> {
        if value.is_undefined() || value.is_null() {
            return Ok(Self(JsValue::UNDEFINED));
        }
        let object = value.dyn_ref::<Object>().filter(|object| !object.is_function());
        let Some(object) = object.filter(|_| !Array::is_array(value) && !js_sys::ArrayBuffer::is_view(value))
        else {
            return Err(invalid(&format!("{name} is {}, it must be an object", kind(value))));
        };
        for key in Object::keys(object).iter().filter_map(|key| key.as_string()) {
            if !allowed.contains(&key.as_str()) {
                let known = allowed.join(", ");
                return Err(invalid(&format!("{name} has no field '{key}', its fields are {known}")));
            }
        }
        Ok(Self(value.clone()))
    }

    /// A field; none where it is missing.
    pub(crate) fn get(&self, name: &str) -> Read<Option<JsValue>> {
        if self.0.is_undefined() {
            return Ok(None);
        }
        let value = Reflect::get(&self.0, &name.into())?;
        Ok(Some(value).filter(|value| !value.is_undefined() && !value.is_null()))
    }

    /// A field as some function reads it, or a default.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str, &JsValue) -> Read<T>,
        default: T,
    ) -> Read<T> {
        self.get(name)?.map_or(Ok(default), |value| read(name, &value))
    }

    /// A field that must be there.
    pub(crate) fn need<T>(&self, name: &str, read: impl FnOnce(&str, &JsValue) -> Read<T>) -> Read<T> {
        read(name, &self.get(name)?.unwrap_or(JsValue::UNDEFINED))
    }
}

/// A copy of a handle of one of the package's classes. The caller's handle stays as it is.
pub(crate) fn handle<T: TryFromJsValue>(name: &str, class: &str, value: &JsValue) -> Read<T> {
    let refuse = || not_of_class(name, class, value);
    check_handle(name, class, value)?;
    let copy = Reflect::get(value, &"copy".into())?;
    let Some(copy) = copy.dyn_ref::<Function>() else { return Err(refuse()) };
    T::try_from_js_value(copy.call0(value)?).map_err(|_| refuse())
}

/// What a handle holds. The caller's handle is used up.
pub(crate) fn taken<T: TryFromJsValue>(name: &str, class: &str, value: &JsValue) -> Read<T> {
    check_handle(name, class, value)?;
    T::try_from_js_value(value.clone()).map_err(|_| not_of_class(name, class, value))
}

fn not_of_class(name: &str, class: &str, value: &JsValue) -> JsValue {
    invalid(&format!("{name} is {}, it must be of the class {class}", kind(value)))
}

/// Refuses what is no object, and a handle that was freed.
fn check_handle(name: &str, class: &str, value: &JsValue) -> Read<()> {
    if !value.is_object() {
        return Err(not_of_class(name, class, value));
    }
    if Reflect::get(value, &"__wbg_ptr".into())?.as_f64() == Some(0.0) {
        return Err(invalid(&format!("{name} was freed, it can't be used any more")));
    }
    Ok(())
}

/// The elements of an array.
pub(crate) fn list(name: &str, value: &JsValue) -> Read<Array> {
    if !Array::is_array(value) {
        return Err(invalid(&format!("{name} is {}, it must be an array", kind(value))));
    }
    // No copy: a sparse array can have a length of billions.
    Ok(value.clone().unchecked_into())
}
