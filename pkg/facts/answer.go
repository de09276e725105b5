package facts

// Status says what became of one question to the cluster.
type Status string

const (
	// NotAsked is the zero value: nobody needed the answer.
	NotAsked Status = ""
	// Found means that the object exists, or that the list was served.
	Found Status = "found"
	// Absent means that the server itself said 404 for exactly this object, or
	// that a snapshot which claims to hold every object of the kind lacks it.
	Absent Status = "absent"
	// Unknown means that the question was asked and got no usable answer: no
	// permission, no connection, a time-out, or a snapshot that does not say.
	Unknown Status = "unknown"
)

// Reasons of an Unknown answer, as they appear in the JSON output.
const (
	ReasonForbidden     = "forbidden"
	ReasonTimeout       = "timeout"
	ReasonError         = "error"
	ReasonNotInSnapshot = "not-in-snapshot"
)

// Answer is the outcome of one question to the cluster.
type Answer[T any] struct {
	Status Status
	// Value is set only if Status is Found.
	Value T
	// Partial is set if Value is a list that may lack some: what is not in it may exist
	// all the same. A live cluster serves whole lists; a snapshot has them only where it
	// says so.
	Partial bool
	// Reason is one of the Reason constants and set only if Status is Unknown.
	Reason string
	// Detail is the server's own wording and set only if Status is Unknown.
	Detail string
}

// IsFound reports whether Value holds what was asked for.
func (a Answer[T]) IsFound() bool { return a.Status == Found }

// IsComplete reports whether Value holds everything there is, so that what is not in it
// does not exist.
func (a Answer[T]) IsComplete() bool { return a.Status == Found && !a.Partial }

// IsAbsent reports whether the object is known not to exist.
func (a Answer[T]) IsAbsent() bool { return a.Status == Absent }

// Unchecked is a question that got no answer.
type Unchecked struct {
	// Object is "Kind/name" for one object, "Kind" for a list and
	// "Event/Kind/name" for the Events of one object.
	Object string `json:"object"`
	// Reason is forbidden, timeout, error or not-in-snapshot.
	Reason string `json:"reason"`
	// Detail is the server's own wording.
	Detail string `json:"detail,omitempty"`
}
