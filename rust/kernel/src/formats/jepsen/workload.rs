//! Jepsen's workloads that are not read as they are, by the names of their functions, and advice for each.

/// A workload whose values are not micro-operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Workload {
    /// The function is part of several workloads.
    #[default]
    Unclear,
    Bank,
    SetOrCounter,
    CompareAndSet,
    Mutex,
    Queue,
}

impl Workload {
    pub(super) fn named(function: &[u8]) -> Self {
        match function {
            b"transfer" => Self::Bank,
            b"add" | b"inc" | b"increment" => Self::SetOrCounter,
            b"cas" => Self::CompareAndSet,
            b"acquire" | b"release" => Self::Mutex,
            b"enqueue" | b"dequeue" | b"drain" => Self::Queue,
            _ => Self::Unclear,
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Unclear => {
                "list-append, rw-register, closed-predicate and long fork are read; bank transfers only as reads \
                 and writes of accounts; sets, counters, queues, mutexes and compare-and-set registers are no \
                 isolation histories: use Jepsen's own checkers"
            }
            Self::Bank => {
                "bank: a transfer that gives its amount alone does not say what it read and wrote: record \
                 `[:r account balance]` and `[:w account balance]`, or use Jepsen's bank checker for the total"
            }
            Self::SetOrCounter => {
                "sets and counters are no isolation histories: use Jepsen's set or counter checker, or record \
                 additions to a list, `[:append key element]`"
            }
            Self::CompareAndSet => {
                "a compare-and-set register is no isolation history: use a checker of linearizability, such as \
                 Knossos or Porcupine"
            }
            Self::Mutex => {
                "a mutex is no isolation history: use a checker of linearizability, such as Knossos or Porcupine"
            }
            Self::Queue => "a queue is no isolation history: use Jepsen's queue or Kafka checker",
        }
    }
}
