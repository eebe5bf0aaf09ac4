package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
