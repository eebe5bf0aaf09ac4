package receivers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office records the messages of all receivers.
type office struct {
	*httptest.Server
	mail net.Listener

	mu       sync.Mutex
	got      []string // "webhook firing"
	refuse   func(r *http.Request) int
	received chan struct{}
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{received: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	for pattern, read := range map[string]func(r *http.Request, body map[string]any) string{
		"POST /webhook": func(_ *http.Request, m map[string]any) string { return fmt.Sprint("webhook ", m["status"]) },
		"POST /services/T0/B0/slack-secret": func(_ *http.Request, m map[string]any) string {
			attachment := m["attachments"].([]any)[0].(map[string]any)
			return fmt.Sprint("slack ", attachment["color"])
		},
		"POST /v2/enqueue": func(_ *http.Request, m map[string]any) string {
			if m["routing_key"] != "pagerduty-secret" || m["dedup_key"] == "" {
				t.Errorf("PagerDuty got %v", m)
			}
			return fmt.Sprint("pagerduty ", m["event_action"])
		},
		"POST /v2/alerts": func(r *http.Request, m map[string]any) string {
			if r.Header.Get("Authorization") != "GenieKey opsgenie-secret" || m["alias"] == "" {
				t.Errorf("Opsgenie got %v with %v", m, r.Header)
			}
			return "opsgenie create"
		},
		"POST /v2/alerts/{alias}/close": func(*http.Request, map[string]any) string { return "opsgenie close" },
		"POST /teams": func(_ *http.Request, m map[string]any) string {
			text, _ := json.Marshal(m)
			return fmt.Sprint("teams ", strings.Contains(string(text), "RESOLVED"))
		},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body := map[string]any{}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Errorf("%s: %v", pattern, err)
			}
			o.mu.Lock()
			refuse := o.refuse
			o.mu.Unlock()
			if refuse != nil {
				if code := refuse(r); code != 0 {
					http.Error(w, r.Header.Get("Authorization")+" is refused", code)
					return
				}
			}
			o.record(read(r, body))
			if r.URL.Path == "/v2/enqueue" || strings.HasPrefix(r.URL.Path, "/v2/alerts") {
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"status":"success"}`)
				return
			}
			_, _ = io.WriteString(w, "ok")
		})
	}
	o.Server = httptest.NewServer(mux)
	t.Cleanup(o.Close)
	var err error
	if o.mail, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); o.serveMail() }()
	t.Cleanup(func() { _ = o.mail.Close(); <-done })
	return o
}

// serveMail speaks as much SMTP as a client without authentication needs.
func (o *office) serveMail() {
	for {
		c, err := o.mail.Accept()
		if err != nil {
			return
		}
		in := bufio.NewReader(c)
		say := func(line string) { _, _ = io.WriteString(c, line+"\r\n") }
		say("220 here")
		for data, subject := false, ""; ; {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			line = strings.TrimSpace(line)
			switch {
			case data && line == ".":
				data = false
				o.record(fmt.Sprint("email ", strings.Contains(subject, "RESOLVED")))
				say("250 queued")
			case data:
				if rest, ok := strings.CutPrefix(line, "Subject: "); ok {
					subject = rest
				}
			case line == "DATA":
				data = true
				say("354 go on")
			case line == "QUIT":
				say("221 bye")
			default:
				say("250 ok")
			}
		}
		_ = c.Close()
	}
}

func (o *office) record(message string) {
	o.mu.Lock()
	o.got = append(o.got, message)
	o.mu.Unlock()
	select {
	case o.received <- struct{}{}:
	default:
	}
}

func (o *office) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(slices.Values(o.got))
}

// await waits until there are n messages.
func (o *office) await(t *testing.T, n int) []string {
	t.Helper()
	for timeout := time.After(time.Minute); ; {
		if all := o.all(); len(all) >= n {
			return all
		}
		select {
		case <-o.received:
		case <-timeout:
			t.Fatalf("want %d messages, got %q", n, o.all())
		}
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// quickRoute groups by target and sends at once.
const quickRoute = "route: {receiver: team, group_by: [target], group_wait: 0s, group_interval: 1s"

func mustLoad(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func started(t *testing.T, o Options) *Receivers {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Start()
	t.Cleanup(r.Stop)
	return r
}

// put adds an alert, or ends it.
func put(t *testing.T, r *Receivers, target string, firing bool) {
	t.Helper()
	a := &alert.Alert{UpdatedAt: time.Now(), Alert: model.Alert{
		Labels:   model.LabelSet{"alertname": "Down", "target": model.LabelValue(target), "severity": "page"},
		StartsAt: time.Now().Add(-time.Minute), EndsAt: time.Now().Add(time.Minute),
	}}
	if !firing {
		a.EndsAt = time.Now()
	}
	if err := r.Put(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// TestProtocols: one incident is one message at its start and one at its end in each kind of receiver,
// and reminders of the pager are no messages.
func TestProtocols(t *testing.T) {
	o := newOffice(t)
	file := func(name, text string) string { return writeFile(t, name, text) }
	r := started(t, Options{Config: mustLoad(t, quickRoute+`}
global: {smtp_smarthost: "`+o.mail.Addr().String()+`", smtp_from: synthetic@example.com, smtp_require_tls: false}
receivers:
  - name: team
    webhook_configs: [{url: "`+o.URL+`/webhook"}]
    slack_configs: [{send_resolved: true, channel: "#team", api_url_file: `+file("slack", o.URL+"/services/T0/B0/slack-secret")+`}]
    pagerduty_configs: [{url: "`+o.URL+`/v2/enqueue", routing_key_file: `+file("pagerduty", "pagerduty-secret")+`}]
    opsgenie_configs: [{api_url: "`+o.URL+`/", api_key_file: `+file("opsgenie", "opsgenie-secret")+`}]
    msteamsv2_configs: [{webhook_url: "`+o.URL+`/teams"}]
    email_configs: [{to: team@example.com, send_resolved: true}]
`)})
	begin := []string{"email false", "opsgenie create", "pagerduty trigger", "slack danger", "teams false", "webhook firing"}
	put(t, r, "chat", true)
	if got := o.await(t, len(begin)); !slices.Equal(got, begin) {
		t.Errorf("at the start: %q, not %q", got, begin)
	}
	// Alertmanager takes alerts in by two goroutines, so the messages of another alert show that the
	// reminder was taken in before the end.
	put(t, r, "chat", true)
	put(t, r, "second", true)
	o.await(t, 2*len(begin))
	put(t, r, "chat", false)
	end := []string{"email true", "opsgenie close", "pagerduty resolve", "slack good", "teams true", "webhook resolved"}
	o.await(t, 3*len(begin))
	put(t, r, "chat", false)
	put(t, r, "third", true)
	o.await(t, 4*len(begin))
	r.Stop()
	if got, want := o.all(), slices.Sorted(slices.Values(slices.Concat(begin, begin, begin, end))); !slices.Equal(got, want) {
		t.Errorf("messages %q, not %q", got, want)
	}
	for _, s := range r.Status() {
		if s.Sent != 4 || s.Failed != 0 || s.LastOK.IsZero() {
			t.Errorf("status %+v", s)
		}
	}
}

// TestSecretsOfReceivers: a failing receiver is retried, its state says why, and neither state nor log
// shows a key or a secret address.
func TestSecretsOfReceivers(t *testing.T) {
	o := newOffice(t)
	refused := 0
	o.refuse = func(*http.Request) int {
		if refused++; refused <= 2 {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	key, address := writeFile(t, "key", "a-secret-key-of-the-hook"), writeFile(t, "address", o.URL+"/webhook")
	r := started(t, Options{
		Logger: logger, EngineLogger: logger, SecretFiles: []string{key, address},
		Config: mustLoad(t, quickRoute+`}
receivers: [{name: team, webhook_configs: [{url_file: `+address+`, http_config: {authorization: {credentials_file: `+key+`}}}]}]
`)})
	put(t, r, "chat", true)
	o.await(t, 1)
	r.Stop()
	s := r.Status()[0]
	if s.Name != "team/webhook[0]" || s.Failed != 2 || s.Sent != 1 || s.Err != "" || s.Undelivered != 0 {
		t.Errorf("status %+v", s)
	}
	if text := log.String(); !strings.Contains(text, "does not accept a message") || !strings.Contains(text, "accepts messages again") || strings.Contains(text, "secret-key") || strings.Contains(text, "/webhook ") {
		t.Errorf("log:\n%s", text)
	}
}

// TestSilence: silenced alerts are not sent, a restart keeps the silence, and its end sends them.
func TestSilence(t *testing.T) {
	o, dir := newOffice(t), t.TempDir()
	options := Options{Dir: dir, Config: mustLoad(t, quickRoute+`}
receivers: [{name: team, webhook_configs: [{url: "`+o.URL+`/webhook"}]}]
`)}
	r := started(t, options)
	ask := func(handle http.HandlerFunc, method, path, body string) string {
		t.Helper()
		w, req := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
		req.SetPathValue("id", filepath.Base(path))
		handle(w, req)
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s answers %d: %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	var added struct{ SilenceID string }
	answer := ask(r.AddSilence, "POST", "/api/v2/silences", `{"matchers": [{"name": "target", "value": "ch.*", "isRegex": true}], "endsAt": "`+until.Format(time.RFC3339)+`", "createdBy": "me", "comment": "maintenance"}`)
	if err := json.Unmarshal([]byte(answer), &added); err != nil || added.SilenceID == "" {
		t.Fatalf("no ID in %s", answer)
	}
	r.Stop()
	r = started(t, options)
	want := []Mute{{Until: until, Why: "maintenance", Alerts: `target=~"ch.*"`, Silence: added.SilenceID}}
	if got := r.Mutes(time.Now()); !slices.Equal(got, want) {
		t.Errorf("mutes %+v, not %+v", got, want)
	}
	put(t, r, "chat", true)
	put(t, r, "other", true)
	o.await(t, 1)
	var listed []apiSilence
	if text := ask(r.ListSilences, "GET", "/api/v2/silences", ""); json.Unmarshal([]byte(text), &listed) != nil || len(listed) != 1 || listed[0].Status["state"] != "active" {
		t.Errorf("the list is %s", text)
	}
	r.Stop() // after this no message is in progress
	if got := o.all(); len(got) != 1 {
		t.Errorf("messages during the silence: %q", got)
	}
	r = started(t, options)
	put(t, r, "chat", true)
	ask(r.EndSilence, "DELETE", "/api/v2/silence/"+added.SilenceID, "")
	o.await(t, 2)
}

// TestPrepare: another configuration takes over without a restart. Neither does it repeat a message nor does
// it forget one: the end of an alert goes to the new address.
func TestPrepare(t *testing.T) {
	before, after := newOffice(t), newOffice(t)
	r := started(t, Options{Config: mustLoad(t, quickRoute+`}
receivers: [{name: team, webhook_configs: [{url: "`+before.URL+`/webhook"}]}]
`)})
	put(t, r, "chat", true)
	before.await(t, 1)
	if _, err := r.Prepare(Options{Config: mustLoad(t, quickRoute+"}\nreceivers: [{name: team}]\ntemplates: [\""+writeFile(t, "bad.tmpl", "{{")+"\"]")}); err == nil {
		t.Error("a broken template is accepted")
	}
	commit, err := r.Prepare(Options{Config: mustLoad(t, quickRoute+`, routes: [{matchers: [target="work"], mute_time_intervals: [always]}]}
receivers: [{name: team, webhook_configs: [{url: "`+after.URL+`/webhook"}]}]
time_intervals: [{name: always, time_intervals: [{times: [{start_time: "00:00", end_time: "24:00"}]}]}]
`)})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Mutes(time.Now()); len(got) != 0 {
		t.Errorf("mutes %+v before the commit", got)
	}
	commit()
	if got := r.Mutes(time.Now()); len(got) != 1 || got[0].Why != "always" {
		t.Errorf("mutes %+v after the commit", got)
	}
	put(t, r, "work", true)
	put(t, r, "second", true)
	after.await(t, 1)
	put(t, r, "chat", false)
	after.await(t, 2)
	r.Stop()
	if got, want := before.all(), []string{"webhook firing"}; !slices.Equal(got, want) {
		t.Errorf("the old address got %q, not %q", got, want)
	}
	if got, want := after.all(), []string{"webhook firing", "webhook resolved"}; !slices.Equal(got, want) {
		t.Errorf("the new address got %q, not %q", got, want)
	}
	if s := r.Status(); len(s) != 1 || s[0].Sent != 3 {
		t.Errorf("status %+v: the count of messages does not go on", s)
	}
	commit, err = r.Prepare(r.options)
	if err != nil {
		t.Fatal(err)
	}
	commit() // after the end nothing starts, which goleak would see
}

func TestBadSilences(t *testing.T) {
	r, err := New(Options{Config: mustLoad(t, quickRoute+"}\nreceivers: [{name: team}]")})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"target=chat": "send for example", `{}`: "comment is missing", `{"comment": "x"}`: "endsAt is missing",
		`{"comment": "x", "endsAt": "2999-01-01T00:00:00Z"}`:                                           "matcher",
		`{"comment": "x", "endsAt": "2999-01-01T00:00:00Z", "matchers": [{"name": "a", "value": ""}]}`: "must not match the empty string",
	} {
		w := httptest.NewRecorder()
		r.AddSilence(w, httptest.NewRequest("POST", "/api/v2/silences", strings.NewReader(body)))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %q", body, w.Code, w.Body, want)
		}
	}
}

// TestWindows: during a maintenance window the alerts of its route are not sent.
func TestWindows(t *testing.T) {
	o := newOffice(t)
	r := started(t, Options{Config: mustLoad(t, quickRoute+`, routes: [{matchers: [target="chat"], mute_time_intervals: [always]}, {matchers: [target="work"], active_time_intervals: [hours]}]}
receivers: [{name: team, webhook_configs: [{url: "`+o.URL+`/webhook"}]}]
time_intervals:
  - {name: always, time_intervals: [{times: [{start_time: "00:00", end_time: "24:00"}]}]}
  - {name: hours, time_intervals: [{times: [{start_time: "09:00", end_time: "17:00"}]}]}
`)})
	put(t, r, "chat", true)
	put(t, r, "other", true)
	o.await(t, 1)
	r.Stop() // a message about chat would have been sent before
	if got := o.all(); len(got) != 1 {
		t.Errorf("messages %q", got)
	}
	early := time.Date(2026, 12, 1, 7, 30, 0, 0, time.UTC)
	want := []Mute{{Why: "always", Alerts: `target="chat"`}, {Until: early.Truncate(time.Hour).Add(2 * time.Hour), Why: "outside hours", Alerts: `target="work"`}}
	if got := r.Mutes(early); !slices.Equal(got, want) {
		t.Errorf("mutes %+v, not %+v", got, want)
	}
	if got := r.Mutes(early.Add(4 * time.Hour)); !slices.Equal(got, want[:1]) {
		t.Errorf("in the working hours: mutes %+v", got)
	}
}

// TestDamagedFiles: a file that cannot be read is named, with the remedy.
func TestDamagedFiles(t *testing.T) {
	for _, name := range []string{logFile, silencesFile} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no protobuf at all"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(Options{Dir: dir, Config: mustLoad(t, quickRoute+"}\nreceivers: [{name: team}]")})
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHeartbeat: requests come while the pager is alive, and their failures do not show the address.
func TestHeartbeat(t *testing.T) {
	asked := make(chan string, 10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.String()
		http.Error(w, "no", http.StatusNotFound)
	}))
	defer service.Close()
	var log strings.Builder
	h, err := NewHeartbeat(HeartbeatOptions{URL: service.URL + "/ping/a-secret-token?x=1", Method: "POST"}, nil, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Notify(t.Context()); err == nil || <-asked != "POST /ping/a-secret-token?x=1" {
		t.Errorf("the error is %v", err)
	}
	service.Close()
	if _, err := h.Notify(t.Context()); err == nil {
		t.Error("a request to nobody succeeded")
	}
	s := h.Status()
	if s.Name != "heartbeat" || s.Failed != 2 || strings.Contains(s.Err+log.String(), "secret") || !strings.Contains(log.String(), "404") {
		t.Errorf("status %+v, log %s", s, log.String())
	}
}

// beats counts requests.
type beats struct{ sent atomic.Int32 }

func (b *beats) Notify(context.Context, ...*alert.Alert) (bool, error) {
	b.sent.Add(1)
	return false, nil
}

// TestHeartbeatEndsWithThePager: there is a request a minute while the pager evaluates and none later.
func TestHeartbeatEndsWithThePager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b beats
		h := &Heartbeat{integration{Notifier: &b, logger: slog.New(slog.DiscardHandler)}}
		var alive atomic.Bool
		ctx, cancel := context.WithCancel(t.Context())
		go h.Run(ctx, alive.Load)
		for _, step := range []struct {
			alive bool
			want  int32 // requests in five minutes
		}{{false, 0}, {true, 5}, {false, 0}, {true, 5}} {
			before := b.sent.Load()
			alive.Store(step.alive)
			time.Sleep(5 * heartbeatInterval)
			synctest.Wait()
			if got := b.sent.Load() - before; got != step.want {
				t.Errorf("alive %v: %d requests in five minutes, not %d", step.alive, got, step.want)
			}
		}
		cancel()
		synctest.Wait()
		before := b.sent.Load()
		time.Sleep(5 * heartbeatInterval)
		if b.sent.Load() != before {
			t.Error("requests after the end of the pager")
		}
	})
}
