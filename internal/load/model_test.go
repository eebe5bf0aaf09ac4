package load

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// nameless removes the configured model.
func nameless(j *probe.Job) { j.Target.Model = "" }

// answers returns a model function that waits first.
func answers(name string, after time.Duration) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if !Pause(ctx, after) {
			return "", ctx.Err()
		}
		return name, nil
	}
}

func TestModelIsKnownBeforeTheFirstConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{model: answers("found", 3*time.Second)}, 0, job("a", nameless))
		time.Sleep(time.Minute)
		b.stop()
		plans := b.d.seen()
		for _, p := range plans {
			if p.Model != "found" {
				t.Fatalf("a conversation with the model %q", p.Model)
			}
		}
		if b.d.modelRequests != 1 || len(plans) < 560 {
			t.Errorf("asked %d times, %d conversations", b.d.modelRequests, len(plans))
		}
	})
}

func TestConfiguredModelIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t, &deployment{status: http.StatusNotFound, outcome: probe.HTTP4xx}, 0, job("a"))
		time.Sleep(time.Minute)
		b.stop()
		if b.d.modelRequests != 0 {
			t.Errorf("asked %d times", b.d.modelRequests)
		}
		if got := b.d.seen()[0].Model; got != "m" {
			t.Errorf("model %q", got)
		}
	})
}

func TestDeadTargetIsProbedWithoutAModel(t *testing.T) {
	refused := func(context.Context) (string, error) { return "", errors.New("connection refused") }
	hangs := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	nobody := func(context.Context) (string, error) { return "", nil }
	for name, model := range map[string]func(context.Context) (string, error){"refused": refused, "hangs": hangs, "an empty name": nobody} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &deployment{model: model, outcome: probe.ConnectError}
				b := run(t, d, 0, job("a", nameless))
				time.Sleep(time.Minute)
				synctest.Wait()
				b.book.read(func(k *book) {
					if n := k.outcomes[probe.ConnectError]; n < 490 {
						t.Errorf("%d connect errors in a minute, want some 500 or more", n)
					}
				})
				d.set(func(d *deployment) { d.model, d.outcome = answers("up", 0), probe.Success })
				time.Sleep(modelTimeout + modelPauseMax)
				synctest.Wait()
				known := len(d.seen())
				time.Sleep(time.Minute)
				b.stop()
				for _, p := range d.seen()[known:] {
					if p.Model != "up" {
						t.Fatalf("a conversation with the model %q although it is known", p.Model)
					}
				}
			})
		})
	}
}

func TestAnUnknownModelIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deployment{model: answers("old", 0)}
		b := run(t, d, 0, job("a", nameless))
		time.Sleep(time.Minute)
		d.set(func(d *deployment) {
			d.model, d.status, d.outcome = answers("new", 0), http.StatusNotFound, probe.HTTP4xx
		})
		time.Sleep(time.Second)
		synctest.Wait()
		known := len(d.seen())
		time.Sleep(time.Minute)
		b.stop()
		for _, p := range d.seen()[known:] {
			if p.Model != "new" {
				t.Fatalf("a conversation with the model %q", p.Model)
			}
		}
		if d.modelRequests > 2+6 {
			t.Errorf("asked %d times in a minute of 404s", d.modelRequests)
		}
	})
}

func TestOpeningsLearnFromUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const charsPerToken = 3
		tokens := 0
		d := &deployment{prompt: func(c workload.Conversation) int {
			tokens = c.CharsOpening / charsPerToken
			return tokens
		}}
		b := run(t, d, 0, job("a", func(j *probe.Job) { j.Workload.PromptTokens = 1000 }))
		time.Sleep(10 * time.Second)
		b.stop()
		if tokens < 950 || tokens > 1050 {
			t.Errorf("openings have %d tokens, want 1000", tokens)
		}
	})
}

// TestAnOutageIsLoggedOnce checks that each outage of model discovery logs one warning.
func TestAnOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder // one goroutine writes it, and the test reads it after that goroutine has ended
		d := &deployment{model: answers("m", 0)}
		b := runWith(t, d, 0, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }, job("a", nameless))
		time.Sleep(time.Minute)
		for range 2 {
			d.set(func(d *deployment) {
				d.model = func(context.Context) (string, error) { return "", errors.New("connection refused") }
				d.status, d.outcome = http.StatusNotFound, probe.HTTP4xx
			})
			time.Sleep(5 * time.Minute)
			d.set(func(d *deployment) { d.model = answers("m", 0) })
			time.Sleep(time.Minute)
		}
		b.stop()
		if n := strings.Count(log.String(), "cannot discover the model"); n != 2 {
			t.Errorf("%d warnings in two outages:\n%s", n, log.String())
		}
	})
}

// TestAnEndedJobLogsNoDiscovery checks that a job that ends while it asks for the model logs nothing.
func TestAnEndedJobLogsNoDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		d := &deployment{model: func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}}
		b := runWith(t, d, 0, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }, job("a", nameless))
		time.Sleep(time.Second)
		b.stop()
		if strings.Contains(log.String(), "cannot discover the model") {
			t.Errorf("the end of a job is logged as an outage:\n%s", log.String())
		}
	})
}
