package sidecar

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/sidecar/sink"
)

// changed tells the baselines about a change of a target.
func (s *Sidecar) changed(m sink.Mark) {
	s.baselines.Mark(m)
	s.logger.Info("A change was marked", "source", m.Source, "text", m.Text, "target", m.Target, "at", m.At.UTC().Format(time.RFC3339))
}

// markExample is the remedy for a mark that cannot be used.
const markExample = `write for example POST /-/mark?text=release+1.2.3&target=NAME, or with Content-Type: application/json {"text": "release 1.2.3", "target": "NAME", "at": "2026-12-01T10:00:00Z"}`

// mark records a change that may explain later measurements, such as a release: a form with text and target
// (a target or a discovery group; empty means all), the same as JSON with a time, or a deployment_status event of GitHub.
func (s *Sidecar) mark(w http.ResponseWriter, r *http.Request) {
	m, ignored, err := s.readMark(r)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case ignored != "":
		fmt.Fprintln(w, "ignored:", ignored)
	case m.Target != "" && !slices.ContainsFunc(s.recorder.Names(), m.Concerns):
		http.Error(w, s.unknown(m.Target, ""), http.StatusNotFound)
	default:
		s.marks.Add(m)
		fmt.Fprintln(w, "marked")
	}
}

// readMark reads the mark of a request. ignored says why there is none; it is "" for a mark.
func (s *Sidecar) readMark(r *http.Request) (m sink.Mark, ignored string, err error) {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		m = sink.Mark{Source: sink.MarkDeploy, Target: r.FormValue("target"), Text: r.FormValue("text")}
		if m.Text == "" {
			err = errors.New("text is missing: say what changed: " + markExample)
		}
		return m, "", err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return m, "", fmt.Errorf("the body cannot be read: %w", err)
	}
	if event := r.Header.Get("X-GitHub-Event"); event != "" {
		return s.githubMark(event, body, r.URL.Query())
	}
	m, err = plainMark(body)
	m.Target = cmp.Or(m.Target, r.URL.Query().Get("target"))
	return m, "", err
}

// plainMark reads a mark as markExample has it.
func plainMark(body []byte) (sink.Mark, error) {
	var in struct {
		Text   string `json:"text"`
		Target string `json:"target"`
		At     string `json:"at"`
	}
	m := sink.Mark{Source: sink.MarkDeploy}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return m, fmt.Errorf("the body is no mark: %w: %s", atomicfile.InJSONTerms("it", err), markExample)
	}
	m.Text, m.Target = in.Text, in.Target
	if m.Text == "" {
		return m, errors.New("text is missing: say what changed: " + markExample)
	}
	if in.At == "" {
		return m, nil
	}
	at, err := time.Parse(time.RFC3339, in.At)
	switch {
	case err != nil:
		return m, fmt.Errorf("at: %.100q is no time: write for example 2026-12-01T10:00:00Z", in.At)
	case time.Until(at) > time.Minute:
		return m, fmt.Errorf("at: %s is in the future: write when the change began, or leave at out for now", in.At)
	}
	m.At, m.IsExact = at, true
	return m, nil
}

// githubMark reads the body of an event of GitHub. The mark is at the start of a deployment. A sender that reports
// only the end gets a mark at the end. Ignored are deployments that have not begun, and those to other
// environments than the parameter environment, if it is given.
func (s *Sidecar) githubMark(event string, body []byte, query url.Values) (m sink.Mark, ignored string, err error) {
	var in struct {
		Deployment struct{ Ref, SHA, Environment string }
		Status     struct {
			State     string
			CreatedAt time.Time `json:"created_at"`
		} `json:"deployment_status"`
		Repository struct{ Name string }
	}
	if event != "deployment_status" {
		return m, fmt.Sprintf("the event %.50q; only deployment_status is a mark", event), nil
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return m, "", fmt.Errorf("the body is no event %s of GitHub: %w: set the content type of the webhook to application/json", event, atomicfile.InJSONTerms("it", err))
	}
	d := in.Deployment
	if d.Environment == "" || d.Ref+d.SHA == "" {
		return m, "", fmt.Errorf("the body is no event %s of GitHub: deployment.environment or deployment.ref is missing: send the event as GitHub does", event)
	}
	if wanted := query.Get("environment"); wanted != "" && wanted != d.Environment {
		return m, fmt.Sprintf("the environment %.50q; the address of the webhook has environment=%.50s", d.Environment, wanted), nil
	}
	m = sink.Mark{
		Source: sink.MarkGitHub, Target: query.Get("target"), At: in.Status.CreatedAt,
		Text: fmt.Sprintf("deployment of %s %s to %s", in.Repository.Name, cmp.Or(d.Ref, d.SHA), d.Environment),
	}
	switch in.Status.State {
	case "in_progress":
	case "success", "failure", "error":
		if s.marks.Has(m, time.Now().Add(-24*time.Hour)) {
			ignored = fmt.Sprintf("the state %q; the start of the deployment is marked", in.Status.State)
		}
	default:
		ignored = fmt.Sprintf("the state %.50q; the deployment has not begun, or is over", in.Status.State)
	}
	return m, ignored, nil
}
