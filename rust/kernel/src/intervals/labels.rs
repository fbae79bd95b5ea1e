//! SQL labels of an operation: the only place that interprets them.
//!
//! A trace may name the statement of an operation (`SELECT ... FOR UPDATE SKIP LOCKED`), its lock mode
//! (`EXCLUSIVE_LOCK`) and its read mode (`UNCOMMITTED_READ`). A lock mode or read mode that is recognised overrules
//! the profile for that operation; a label that is not recognised says nothing. Upper and lower case are the same.

use super::profile::{Conduct, Lock, Profile, Read, Statement};
use crate::history::Kind;

/// The meaning of a statement label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementLabel {
    /// The kind of the statement.
    pub statement: Statement,
    /// Whether it leaves out rows that other transactions have locked.
    pub skips_locked: bool,
    /// Whether it reads uncommitted data and takes no locks.
    pub reads_uncommitted: bool,
}

/// The meaning of the labels of one operation; None where a label is missing or not recognised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Labels {
    pub statement: Option<StatementLabel>,
    pub lock: Option<Lock>,
    pub read: Option<Read>,
}

/// What one operation locks and reads: the profile says so, unless a label of the operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OperationConduct {
    pub statement: Statement,
    pub conduct: Conduct,
    /// Whether a row that it does not show may be one that another transaction has locked.
    pub skips_locked: bool,
}

impl Labels {
    /// Interprets the texts of the three labels; an empty text is no label.
    #[must_use]
    pub fn parse(statement: &str, lock_mode: &str, read_mode: &str) -> Self {
        Self {
            statement: StatementLabel::parse(statement),
            lock: parse_lock_mode(lock_mode),
            read: parse_read_mode(read_mode),
        }
    }
}

impl Profile {
    /// What an operation of this kind with these labels locks and reads.
    ///
    /// A statement that skips locked rows locks no predicate: it may leave out rows that match.
    #[must_use]
    pub fn conduct_of(&self, kind: Kind, labels: Labels) -> OperationConduct {
        let label = labels.statement.unwrap_or(StatementLabel::of(default_statement(kind)));
        let StatementLabel { statement, skips_locked, reads_uncommitted } = label;
        let mut conduct = self.statements[statement as usize];
        if reads_uncommitted {
            conduct = Conduct { lock: Lock::None, read: Read::Uncommitted, locks_predicate: false };
        }
        conduct.lock = labels.lock.unwrap_or(conduct.lock);
        conduct.read = labels.read.unwrap_or(conduct.read);
        conduct.locks_predicate &= !skips_locked;
        OperationConduct { statement, conduct, skips_locked }
    }
}

/// The kind of statement that an operation without a statement label is a part of.
fn default_statement(kind: Kind) -> Statement {
    match kind {
        Kind::Write | Kind::Append => Statement::Update,
        Kind::Insert => Statement::Insert,
        Kind::Delete => Statement::Delete,
        _ => Statement::Select,
    }
}

impl StatementLabel {
    fn of(statement: Statement) -> Self {
        Self { statement, skips_locked: false, reads_uncommitted: false }
    }

    /// Interprets a statement label: SQL text, or a name such as `select_for_update`.
    #[must_use]
    pub fn parse(label: &str) -> Option<Self> {
        let label = label.trim().to_ascii_lowercase();
        let words = words(&label);
        let has = |phrase: &str| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            words.windows(phrase.len()).any(|some| some == phrase)
        };
        let statement = match *words.first()? {
            // A lock on the key alone lets other transactions change the rest of the row.
            "select" if has("for key share") => Statement::Select,
            "select" if has("for share") || has("in share mode") => Statement::SelectForShare,
            "select" if has("for update") || has("for no key update") => Statement::SelectForUpdate,
            "select" => Statement::Select,
            "insert" => Statement::Insert,
            "update" => Statement::Update,
            "delete" => Statement::Delete,
            _ => return None,
        };
        Some(Self {
            statement,
            skips_locked: has("skip locked") || has("readpast"),
            reads_uncommitted: has("nolock") || has("readuncommitted"),
        })
    }
}

/// The words of a label. In SQL `last_update` is one word; a label without spaces may be `select_for_update`.
fn words(label: &str) -> Vec<&str> {
    let is_sql = label.contains(char::is_whitespace);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || (letter == '_' && is_sql);
    label.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect()
}

/// Interprets a lock mode by its first word: `NON_LOCK`, `SHARE_LOCK`, `UPDATE_LOCK`, `EXCLUSIVE_LOCK`.
#[must_use]
pub fn parse_lock_mode(label: &str) -> Option<Lock> {
    Some(match words_of_mode(&label.to_ascii_lowercase()).next()? {
        "non" | "none" | "no" => Lock::None,
        "share" | "shared" => Lock::Share,
        "update" => Lock::Update,
        "exclusive" => Lock::Exclusive,
        _ => return None,
    })
}

/// Interprets a read mode by its first word: `UNCOMMITTED_READ`, `CONSISTENT_READ`, `LOCKING_READ`; a leading `read`,
/// as in `READ UNCOMMITTED`, does not count.
#[must_use]
pub fn parse_read_mode(label: &str) -> Option<Read> {
    Some(match words_of_mode(&label.to_ascii_lowercase()).find(|&word| word != "read")? {
        "uncommitted" => Read::Uncommitted,
        "consistent" => Read::Consistent,
        "locking" => Read::Locking,
        _ => return None,
    })
}

fn words_of_mode(label: &str) -> impl Iterator<Item = &str> {
    label.split(|letter: char| !letter.is_ascii_lowercase()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(label: &str) -> Option<Statement> {
        StatementLabel::parse(label).map(|label| label.statement)
    }

    #[test]
    fn a_select_locks_only_if_its_label_says_so() {
        assert_eq!(statement("select v from t where k = 1 FOR UPDATE"), Some(Statement::SelectForUpdate));
        assert_eq!(statement("select_for_no_key_update"), Some(Statement::SelectForUpdate));
        assert_eq!(statement("SELECT v FROM t LOCK IN SHARE MODE"), Some(Statement::SelectForShare));
        assert_eq!(statement("select for key share"), Some(Statement::Select));
        assert_eq!(statement("select price_for_update, share from t"), Some(Statement::Select));
        assert_eq!(statement("merge into t"), None);
        assert_eq!(statement(" "), None);
    }

    #[test]
    fn hints_are_recognised_in_any_case() {
        let label = |text| StatementLabel::parse(text).unwrap();
        assert!(label("SELECT * FROM t WITH (NOLOCK)").reads_uncommitted);
        assert!(label("select * from t with (ReadUncommitted)").reads_uncommitted);
        assert!(label("select * from t with (readpast)").skips_locked);
        assert!(label("select_for_update_skip_locked").skips_locked);
        assert!(!label("select skip_locked from t").skips_locked);
    }

    #[test]
    fn the_first_word_of_a_mode_counts() {
        let locks = ["NON_LOCK", "shared", "Update lock", "EXCLUSIVE_LOCK", "", "x"].map(parse_lock_mode);
        let expected = [Some(Lock::None), Some(Lock::Share), Some(Lock::Update), Some(Lock::Exclusive)];
        assert_eq!(locks[..4], expected);
        assert_eq!(locks[4..], [None, None]);
        let reads =
            ["uncommitted", "READ_UNCOMMITTED", "CONSISTENT_READ", "locking read"].map(parse_read_mode);
        assert_eq!(
            reads,
            [Some(Read::Uncommitted), Some(Read::Uncommitted), Some(Read::Consistent), Some(Read::Locking)]
        );
        assert_eq!(["read", "read committed", "non-locking", ""].map(parse_read_mode), [None; 4]);
    }

    #[test]
    fn modes_overrule_the_statement_and_the_statement_overrules_the_profile() {
        let select = Conduct { lock: Lock::Share, read: Read::Consistent, locks_predicate: true };
        let profile = Profile {
            snapshot: super::super::profile::Snapshot::Statement,
            granularity: super::super::profile::Granularity::Row,
            first_updater_wins: false,
            compares_inserts: false,
            clock_skew: false,
            certifier: super::super::profile::Certifier::None,
            commit_lock: Lock::None,
            statements: [select; Statement::ALL.len()],
        };
        let of = |statement, lock, read| {
            profile.conduct_of(Kind::Read, Labels::parse(statement, lock, read)).conduct
        };
        assert_eq!(of("", "", ""), select);
        assert_eq!(of("", "", "uncommitted"), Conduct { read: Read::Uncommitted, ..select });
        let dirty = Conduct { lock: Lock::None, read: Read::Uncommitted, locks_predicate: false };
        assert_eq!(of("select nolock", "", ""), dirty);
        assert_eq!(of("select nolock", "exclusive", "locking").lock, Lock::Exclusive);
        assert!(!of("select skip locked", "", "").locks_predicate);
    }
}
