//! The engine, and the process's threads.

use hullfield::{BackendChoice, EngineOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{OrRaise, invalid};
use crate::fork::Owned;

/// Where queries run.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Engine {
    engine: Owned<hullfield::Engine>,
}

impl Engine {
    /// The library's engine.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&hullfield::Engine> {
        Ok(self.engine.get(py)?)
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (backend, memory_limit=None, answer_limit=None))]
    fn new(
        py: Python<'_>,
        backend: &str,
        memory_limit: Option<u64>,
        answer_limit: Option<u64>,
    ) -> PyResult<Self> {
        let backend = match backend {
            "auto" => BackendChoice::Auto,
            "gpu" => BackendChoice::Gpu,
            "cpu" => BackendChoice::Cpu,
            other => {
                return Err(invalid(py, &format!("backend is '{other}', it must be 'auto', 'gpu' or 'cpu'")));
            }
        };
        let options = EngineOptions { backend, memory_limit, answer_limit };
        let engine = py.detach(|| hullfield::Engine::new(&options)).or_raise(py)?;
        Ok(Self { engine: Owned::new(engine.clone(), &engine) })
    }

    #[getter]
    fn backend(&self) -> String {
        self.engine.host().backend().to_string()
    }

    #[getter]
    fn reason(&self) -> &str {
        self.engine.host().reason()
    }

    #[getter]
    fn adapter_name(&self) -> Option<&str> {
        self.engine.host().adapter_name()
    }

    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = self.engine.host().options();
        let all = PyDict::new(py);
        all.set_item(
            "backend",
            match options.backend {
                BackendChoice::Gpu => "gpu",
                BackendChoice::Cpu => "cpu",
                _ => "auto",
            },
        )?;
        all.set_item("memory_limit", options.memory_limit)?;
        all.set_item("answer_limit", options.answer_limit)?;
        Ok(all)
    }

    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.engine.host().counters();
        let all = PyDict::new(py);
        for (name, count) in [
            ("buffers_created", counters.buffers_created),
            ("buffer_bytes", counters.buffer_bytes),
            ("staging_created", counters.staging_created),
            ("pipelines_built", counters.pipelines_built),
            ("submissions", counters.submissions),
            ("dispatches", counters.dispatches),
            ("copies", counters.copies),
            ("uploaded_bytes", counters.uploaded_bytes),
            ("read_back_bytes", counters.read_back_bytes),
        ] {
            all.set_item(name, count)?;
        }
        Ok(all)
    }
}

/// The adapters of this machine, one dict each.
#[pyfunction]
pub(crate) fn adapters(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    #[cfg(feature = "gpu")]
    {
        let reports = py.detach(hullfield::adapters);
        reports.iter().map(|report| describe(py, report)).collect()
    }
    #[cfg(not(feature = "gpu"))]
    {
        let _ = py;
        Ok(Vec::new())
    }
}

#[cfg(feature = "gpu")]
fn describe<'py>(py: Python<'py>, report: &hullfield::AdapterReport) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("name", &report.name)?;
    all.set_item("kind", report.kind)?;
    all.set_item("backend", &report.backend)?;
    all.set_item("driver", &report.driver)?;
    all.set_item("max_buffer_bytes", report.max_buffer_bytes)?;
    all.set_item("max_binding_bytes", report.max_binding_bytes)?;
    all.set_item("subgroups", report.subgroups)?;
    all.set_item("timestamps", report.timestamps)?;
    all.set_item("is_auto", report.is_auto)?;
    all.set_item("why", &report.why)?;
    Ok(all)
}

/// How many threads share the work of the CPU.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    hullfield::thread_count()
}

/// Sets how many threads share the work of the CPU, for calls from now on; 0 is one for each core.
#[pyfunction]
pub(crate) fn set_num_threads(py: Python<'_>, count: usize) -> PyResult<()> {
    py.detach(|| hullfield::set_thread_count(count)).or_raise(py)
}
