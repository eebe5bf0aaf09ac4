//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// browser is a page in a headless Chromium. The test talks to it over two pipes, so that it
// needs no port.
type browser struct {
	in      io.Writer
	out     *bufio.Reader
	session string
	calls   int
}

// startBrowser opens an empty page. The browser ends with the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	theirs, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Processes in a container may not nest sandboxes, and all pages shown here are ours.
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers} // Chromium uses file descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	theirs.Close()
	answers.Close()
	b := &browser{in: in, out: bufio.NewReaderSize(out, 1<<16)}
	t.Cleanup(func() {
		in.Close() // ends it with all its processes
		_ = cmd.Wait()
		out.Close()
	})
	var page struct{ TargetID, SessionID string }
	b.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &page)
	b.call(t, "Target.attachToTarget", map[string]any{"targetId": page.TargetID, "flatten": true}, &page)
	b.session = page.SessionID
	return b
}

// call sends a request and waits for the response.
func (b *browser) call(t *testing.T, method string, params, result any) {
	t.Helper()
	b.calls++
	message := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	for answer := (struct {
		ID            int
		Result, Error json.RawMessage
	}{}); err == nil; {
		if text, err = b.out.ReadBytes(0); err != nil {
			break
		}
		answer.ID = 0
		if err = json.Unmarshal(text[:len(text)-1], &answer); err == nil && answer.ID == b.calls {
			if answer.Error != nil {
				t.Fatalf("%s: %s", method, answer.Error)
			}
			if err = json.Unmarshal(answer.Result, result); err == nil {
				return
			}
		}
	}
	t.Fatalf("%s: %v", method, err)
}

// eval evaluates an expression on the page, awaits it if it is a promise, and decodes its
// value.
func (b *browser) eval(t *testing.T, expression string, into any) {
	t.Helper()
	var said struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call(t, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &said)
	if said.ExceptionDetails != nil {
		t.Fatalf("%.200s: %s", expression, said.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(said.Result.Value, into); err != nil {
			t.Fatalf("%.200s: %v in %s", expression, err, said.Result.Value)
		}
	}
}

// open loads a page with a window of the given width.
func (b *browser) open(t *testing.T, url string, width int) {
	t.Helper()
	b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, &struct{}{})
	var opened struct{ ErrorText string }
	b.call(t, "Page.navigate", map[string]any{"url": url}, &opened)
	if opened.ErrorText != "" {
		t.Fatalf("%s: %s", url, opened.ErrorText)
	}
	await(t, 20*time.Second, url+" to be loaded", func() error {
		var state string
		if b.eval(t, "location.href + ' ' + document.readyState", &state); state != url+" complete" {
			return fmt.Errorf("the page is %s", state)
		}
		return nil
	})
}
