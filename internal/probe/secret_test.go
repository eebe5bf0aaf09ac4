package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// TestKeyNeverComesBack lets servers repeat the key in every place that a result contains.
func TestKeyNeverComesBack(t *testing.T) {
	const key = "sk-very/secret+0123456789=="
	const header = "tenant-secret-abcdef"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	echo := "you sent " + key + " and " + header
	for name, script := range map[string]string{
		"error body":         jsonResponse("401 Unauthorized", fmt.Sprintf(`{"error":{"message":%q}}`, echo)),
		"plain error body":   fmt.Sprintf("HTTP/1.1 500 Oops\r\nContent-Length: %d\r\n\r\n%s", len(echo), echo),
		"long error body":    jsonResponse("400 Bad", `{"error":{"message":"`+strings.Repeat(key, 40)+`"}}`),
		"in-band error":      sseHead + chunk(fmt.Sprintf("data: {\"error\":{\"message\":%q}}\n\n", echo)) + lastChunk,
		"long in-band error": sseHead + chunk("data: {\"error\":{\"message\":\""+strings.Repeat(key, 40)+"\"}}\n\n") + lastChunk,
		"malformed data":     sseHead + chunk("data: "+echo+"\n\n") + lastChunk,
		"long malformed":     sseHead + chunk("data: "+strings.Repeat(key, 40)+"\n\n") + lastChunk,
		"malformed header":   "HTTP/1.1 200 OK\r\n" + key + "\r\n\r\n",
		"status line":        key + "\r\n\r\n",
		"escaped slashes":    jsonResponse("401 No", `{"error":{"code":"`+strings.ReplaceAll(echo, "/", `\/`)+`"}}`),
		"escaped signs":      jsonResponse("401 No", `{"error":{"code":"`+strings.NewReplacer("+", `\u002b`, "=", `\u003D`).Replace(echo)+`"}}`),
		"finish reason":      sseHead + chunk(hello, fmt.Sprintf("data: {\"choices\":[{\"delta\":{},\"finish_reason\":%q}]}\n\n", echo), done) + lastChunk,
		"a JSON document":    jsonResponse("200 OK", fmt.Sprintf(`{"x":%q}`, echo)),
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, &scripted{steps: []step{{0, script}}})
			o := options(s.addr)
			o.Target.Key = target.Credential{File: file}
			o.Target.Headers = map[string]string{"X-Tenant": header}
			r := once(t, o)
			req, _ := s.request(0)
			if got := req.Header.Get("Authorization"); got != "Bearer "+key {
				t.Fatalf("the server got Authorization %q", got)
			}
			dump := fmt.Sprintf("%+v", r)
			if strings.Contains(dump, key) || strings.Contains(dump, header) {
				t.Errorf("a secret is in the result: %s", dump)
			}
			for n := 6; n < len(key); n++ {
				if strings.Contains(dump, key[:n]) {
					t.Errorf("the first %d bytes of the key are in the result: %s", n, dump)
					break
				}
			}
		})
	}
}

// TestPasswordNeverComesBack lets a server repeat the password of basic authentication, plain and
// encoded.
func TestPasswordNeverComesBack(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, jsonResponse("401 No", `{"error":{"message":"u:hunter2 dTpodW50ZXIy"}}`)}}})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options(s.addr)
	o.Target.HTTP.BasicAuth = &promconfig.BasicAuth{Username: "u", PasswordFile: file}
	r := once(t, o)
	if req, _ := s.request(0); req.Header.Get("Authorization") != "Basic dTpodW50ZXIy" {
		t.Errorf("the server got %q", req.Header.Get("Authorization"))
	}
	if strings.Contains(r.Err, "hunter2") || strings.Contains(r.Err, "dTpo") {
		t.Errorf("the password is in %q", r.Err)
	}
}

// TestNoControlCharacters checks that a server cannot control the terminal that shows its error.
func TestNoControlCharacters(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + `data: {"error":{"message":"\u001b[2J\u0007\u009bhi"}}` + "\n\n"}}})
	r := once(t, options(s.addr))
	if strings.ContainsFunc(r.Err, unicode.IsControl) || !strings.HasSuffix(r.Err, "hi") {
		t.Errorf("the error reads %q", r.Err)
	}
}

// TestKeyIsNoModel lets a server return the key as the name of its model, which would become a
// label value.
func TestKeyIsNoModel(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	s := play(t, &scripted{steps: []step{{0, jsonResponse("200 OK", `{"data":[{"id":"for `+key+`"}]}`)}}})
	t.Setenv("PROBE_TEST_KEY", key)
	o := options(s.addr)
	o.Target.Model, o.Target.Key = "", target.Credential{Env: "PROBE_TEST_KEY"}
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	model, err := p.Model(t.Context())
	if err == nil || model != "" || strings.Contains(err.Error(), key) {
		t.Errorf("model %q, error %v", model, err)
	}
}
