package simulate

import (
	"io"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	o := quick
	o.MaxModelLen = 100
	_, c := serve(t, o)
	const ask = `"messages":[{"role":"user","content":"hi"}]`
	for name, test := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"not JSON":      {`{`, 400, `{"error":{"code":400,"message":"The request body is not valid: unexpected end of JSON input","param":null,"type":"BadRequestError"}}`},
		"wrong type":    {`{"messages":7}`, 400, `{"error":{"code":400,"message":"The request body is not valid: json: cannot unmarshal number into Go struct field chatRequest.messages of type []simulate.message","param":null,"type":"BadRequestError"}}`},
		"unknown model": {`{"model":"other",` + ask + `}`, 404, "{\"error\":{\"code\":404,\"message\":\"The model `other` does not exist.\",\"param\":\"model\",\"type\":\"NotFoundError\"}}"},
		"no messages":   {`{"model":"simulated-chat"}`, 400, `{"error":{"code":400,"message":"messages must hold at least one message.","param":"messages","type":"BadRequestError"}}`},
		"no role":       {`{"model":"simulated-chat","messages":[{"content":"hi"}]}`, 400, `{"error":{"code":400,"message":"messages[0] has no role.","param":"messages","type":"BadRequestError"}}`},
		"max_tokens":    {`{"model":"simulated-chat","max_tokens":0,` + ask + `}`, 400, `{"error":{"code":400,"message":"max_tokens must be at least 1, got 0.","param":"max_tokens","type":"BadRequestError"}}`},
		"no stream":     {`{"model":"simulated-chat",` + ask + `}`, 400, `{"error":{"code":400,"message":"The simulated deployment only streams: set stream to true.","param":"stream","type":"BadRequestError"}}`},
		"over length":   {`{"model":"simulated-chat","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("x", 400) + `"}]}`, 400, `{"error":{"code":400,"message":"This model's maximum context length is 100 tokens, but the messages have 107 tokens: shorten them.","param":"messages","type":"BadRequestError"}}`},
		"too large":     {`{"model":"` + strings.Repeat("x", maxBody) + `"}`, 413, `{"error":{"code":null,"message":"The request body is larger than 33554432 bytes.","param":null,"type":"BadRequestError"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			resp := c.post(t, t.Context(), test.body)
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(string(b)); resp.StatusCode != test.status || got != test.want {
				t.Errorf("got %d %s\nwant %d %s", resp.StatusCode, got, test.status, test.want)
			}
		})
	}
}

func TestOtherPages(t *testing.T) {
	_, c := serve(t, Options{Model: "m"})
	for path, want := range map[string]string{
		"/v1/models":           `{"data":[{"created":0,"id":"m","max_model_len":131072,"object":"model","owned_by":"simulated","parent":null,"root":"m"}],"object":"list"}`,
		"/health":              ``,
		"/version":             `{"version":"0.0.0+simulated"}`,
		"/v1/chat/completions": `{"error":{"code":405,"message":"Method GET is not allowed here; use POST.","param":null,"type":"invalid_request_error"}}`,
		"/nowhere":             `{"error":{"code":404,"message":"There is nothing at /nowhere.","param":null,"type":"NotFoundError"}}`,
	} {
		if _, got := c.get(t, path); strings.TrimSpace(got) != want {
			t.Errorf("%s: got %s\nwant %s", path, got, want)
		}
	}
}
