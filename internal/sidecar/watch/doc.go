// Package watch compares each turn with what is usual, and decides when a rise is a page or a ticket.
//
// Each timing of a job (TTFT, TPOT) is a signal. Its minutes are means of ln(value / usual) over the turns of all kinds,
// each against its own class. Windows of minutes are compared with limits that follow from the moves of the last four
// weeks. A decision is a list of gates, all of which must hold; docs/background/regression.md explains it.
//
// A job is pure: the same turns at the same times give the same decisions, and no goroutine runs. Tracker holds the jobs
// of a sidecar.
package watch
