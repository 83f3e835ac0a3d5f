//! The feature `serde`: an engine's options and counters, written and read again.

use hullfield::{Backend, BackendChoice, Engine, EngineOptions, Prepared};

use crate::wire::{all_refused, comes_back, damage_is_survived};

#[test]
fn options_and_counters_of_an_engine_come_back() {
    assert_eq!(serde_json::from_str::<EngineOptions>("{}").unwrap(), EngineOptions::default());
    let options: EngineOptions = serde_json::from_str(r#"{"backend": "cpu", "memory_limit": 1024}"#).unwrap();
    assert_eq!((options.backend, options.memory_limit), (BackendChoice::Cpu, Some(1024)));
    comes_back(&EngineOptions { answer_limit: Some(u64::MAX), ..options });
    let engine = Engine::new(&options).unwrap();
    comes_back(&engine.counters());
    comes_back(&engine.backend());
    comes_back(&Prepared::default());
    damage_is_survived(&options, 6);
    all_refused::<EngineOptions>(&[
        (r#"{"backend": "CPU"}"#, "unknown variant `CPU`"),
        (r#"{"backend": "gpu", "memory": 1}"#, "unknown field `memory`"),
        (r#"{"memory_limit": -1}"#, "invalid value"),
    ]);
    assert_eq!(serde_json::to_string(&[Backend::Gpu, Backend::Cpu]).unwrap(), r#"["gpu","cpu"]"#);
}
