package sweep

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/study/runfile"
)

// Several processes can share the load of each level: shard 0, which runs the sweep, and its
// workers. For each level it sends one request to each worker and keeps it open in both
// directions until the level ends:
//
//	lines of the request      lines of the answer
//	order, the plan and the   ready, after the worker prepared its part and primed caches
//	  level                   counts, every second
//	command, with the times   the result, and after that line the worker's turns
//	  at which the load
//	  begins and ends early
//
// Both sides write at least a line a second. A worker whose connection breaks, or that is silent
// for silenceLimit, is lost for the level; a worker that loses the connection cuts its turns. A
// worker keeps nothing between two levels, so the next level may divide the load anew.

const (
	// protocolVersion changes with the messages. Processes of different versions do not work
	// together.
	protocolVersion = 5
	// silenceLimit is the time without a line after which the other side counts as lost.
	silenceLimit = 10 * time.Second
	// lineEvery is the time between two lines.
	lineEvery = time.Second
	// MaxRequest bounds the bytes of an order, which has the text of the plan, with its commands.
	MaxRequest = 64 << 20
	// maxLine bounds the bytes of a line of an answer. The longest has the values of all turns, about
	// 30 bytes each. maxTurns bounds the turns after it.
	maxLine, maxTurns = 512 << 20, 8 << 30
	// contentType is that of orders. A browser asks the worker before it sends this type for a page of
	// another site.
	contentType = "application/json"
)

const (
	pathClock = "/v1/clock" // GET: the worker's time
	pathCheck = "/v1/check" // POST: an order that the worker checks and does not carry out
	pathLevel = "/v1/level" // POST: an order and commands
	pathHold  = "/v1/hold"  // POST: the sweep goes on
	pathLeave = "/v1/leave" // POST: the sweep is over

	// sweepHeader identifies the sweep of a request. A worker belongs to one sweep at a time, and answers
	// http.StatusLocked to others.
	sweepHeader = "Synthetic-Sweep"
	// beginsHeader is set in the requests of a sweep that does not have all its workers yet.
	beginsHeader = "Synthetic-Sweep-Begins"
	// heldFor is how long a worker belongs to its sweep after the last request. Shard 0 sends
	// pathHold every holdEvery, also between levels.
	heldFor, holdEvery = 30 * time.Second, 5 * time.Second
)

// order tells a worker which level to carry, and which part of it.
type order struct {
	Protocol int `json:"protocol"`
	// Path and Plan are the plan file as shard 0 read it. A worker looks for the files that it names
	// relative to the same path, and reads keys from its own files and environment.
	Path string `json:"path"`
	Plan string `json:"plan"`
	// Workload is a digest of the workload with its files. Levels replaces the levels of the plan.
	Workload string     `json:"workload_sha256"`
	Levels   []float64  `json:"levels"`
	Level    levelSpec  `json:"level"`
	Part     load.Shard `json:"part"`
}

// levelSpec describes a level to workers, with all that its texts depend on.
type levelSpec struct {
	cell
	WarmUp bool   `json:"warm_up,omitempty"` // set for the load before a variant's first level
	Model  string `json:"model"`
	Mark   string `json:"mark"` // part of texts that must be new to every cache
	// A text of Chars characters had Tokens tokens.
	Chars  int `json:"chars"`
	Tokens int `json:"tokens"`
	// Number of Total levels.
	Number int `json:"number"`
	Total  int `json:"total"`
}

// command has the decisions about a level so far, by the worker's clock. The zero value has none.
type command struct {
	Begin time.Time `json:"begin,omitzero"` // when the load begins
	End   time.Time `json:"end,omitzero"`   // when the measurement ends early
}

// answer is a line from a worker. An empty one is a sign of life.
type answer struct {
	Ready  bool         `json:"ready,omitempty"`
	Report *levelReport `json:"report,omitempty"`
	// Result is the worker's part of the level, with all values. Only its turns follow, in TurnBytes
	// bytes.
	Result    *runfile.Result `json:"result,omitempty"`
	TurnBytes int64           `json:"turn_bytes,omitempty"`
	Lost      string          `json:"lost,omitempty"` // why the worker gives up the level; the last line
}

// levelReport holds the counts of a process in the current level.
type levelReport struct {
	Result runfile.Result `json:"result"` // the counts of each block without latencies
	Counts
	Ended int `json:"ended"` // counts conversations, if the measurement ends by their number
	// TargetLost says why the target counts as dead, or "". Ours is set if the prober itself
	// cannot send, so that the target may be alive.
	TargetLost string `json:"target_lost,omitempty"`
	Ours       bool   `json:"ours,omitempty"`
}

// Counts summarises the turns of a measurement so far.
type Counts struct {
	// Turns counts ended turns, Failed the failed ones. Early is the mean duration of the first
	// turns, before a queue can form.
	Turns        uint64        `json:"turns"`
	Failed       uint64        `json:"failed"`
	Early        time.Duration `json:"early"`
	InFlight     int           `json:"in_flight"`
	OutputTokens uint64        `json:"output_tokens"`
}

// digest identifies the workload of a plan with the files that it names.
func (p Plan) digest() string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, p.workload())))
}

// authorized compares digests, which have equal lengths for all tokens. An empty token admits nobody.
func authorized(authorization, token string) bool {
	sent, want := sha256.Sum256([]byte(authorization)), sha256.Sum256([]byte("Bearer "+token))
	return token != "" && subtle.ConstantTimeCompare(sent[:], want[:]) == 1
}
