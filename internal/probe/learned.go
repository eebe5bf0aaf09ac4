package probe

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Learned holds the fields of requests that a target refuses. The probers of a target may share it. It is
// safe for concurrent use.
type Learned struct {
	mu     sync.Mutex
	fields []string
}

// leftOut returns the fields that the next request leaves out.
func (l *Learned) leftOut() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.fields)
}

// add adds fields, and returns false if all of them are known.
func (l *Learned) add(fields []string) (added bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range fields {
		if !slices.Contains(l.fields, f) {
			l.fields, added = append(l.fields, f), true
		}
	}
	return added
}

// maxRefused bounds how often a turn is sent again, each time without another field.
const maxRefused = 5

// The words of servers that do not know or do not support a field; and those about its value, such as a limit
// above the context, which another request may get right.
var (
	refusal = regexp.MustCompile(`(?i)\bun(supported|recogni[sz]ed|expected|known)|extra(_forbidden|neous)|additional propert|cannot find field` +
		`|\bnot (be |a )?(supported|allowed|permitted|recogni[sz]ed|accepted|valid)|\bdo(es)?(n't| not) (support|accept|allow)` +
		`|\binvalid (request )?(parameter|argument|field|key)s?:? [\\'"\x60]*\w+[\\'"\x60]*\.?("[,}]|\s*$)`) // and no word about the value
	aboutValue = regexp.MustCompile(`(?i)too (large|long|high|small)|exceed|at (most|least)|maximum|minimum|between|greater|less than|out of range` +
		`|must (be|have)|multiple|so many|positive|integer`)
	fieldName = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*`)
)

const (
	// nearRefusal is the longest distance in bytes between the words of a refusal and the name of the field.
	nearRefusal = 80
	// maxRefusal is how much of an answer is searched, in bytes. Some servers repeat the request in it.
	maxRefusal = 4 << 10
)

// refusedField returns the optional field of the request that an error says the server does not accept, or "".
// It is the name nearest to the words of a refusal: some servers add the names of all fields that they accept.
// Only 400, 422 and errors in a stream are about fields. Other statuses are about the server or the key.
func (a *attempt) refusedField(text []byte) (field string) {
	if a.turn.Status/100 != 2 && a.turn.Status != http.StatusBadRequest && a.turn.Status != http.StatusUnprocessableEntity {
		return ""
	}
	text = text[:min(len(text), maxRefusal)]
	nearest := nearRefusal
	for _, words := range refusal.FindAllIndex(text, -1) {
		from, to := max(0, words[0]-nearRefusal), min(len(text), words[1]+nearRefusal)
		if aboutValue.Match(text[from:to]) {
			continue
		}
		for _, name := range fieldName.FindAllIndex(text[from:to], -1) {
			begin, end := from+name[0], from+name[1]
			known := a.sentField(string(text[begin:end]))
			if known == "" || !strings.Contains(known, "_") && !namesField(text[:begin], text[end:]) {
				continue
			}
			if distance := max(words[0]-end, begin-words[1], 0); distance < nearest {
				field, nearest = known, distance
			}
		}
	}
	if !a.api.IsOptional(field) {
		return ""
	}
	return field
}

// namesField reports whether a usual word, such as "model" or "user", is the name of a field: in quotes or brackets,
// at the begin of a text, or after a colon at its end.
func namesField(before, after []byte) bool {
	quoted := len(before) == 0 || strings.IndexByte("'\"`[.", before[len(before)-1]) >= 0
	return quoted || bytes.HasSuffix(before, []byte(": ")) && (len(after) == 0 || strings.IndexByte("\".,\n", after[0]) >= 0)
}

// sentField returns the field of the request with a name that an error may write in another way.
func (a *attempt) sentField(name string) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	if plain(name) == "includeusage" {
		name = "stream_options"
	}
	i := slices.IndexFunc(a.sent, func(f string) bool { return f == name || strings.Contains(f, "_") && plain(f) == plain(name) })
	if i < 0 {
		return ""
	}
	return a.sent[i]
}
