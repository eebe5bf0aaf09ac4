package probe_test

import (
	"fmt"
	"strings"

	"synthetic/internal/probe"
)

// composed combines streams with every framing and pace. Neither may change the outcome.
func composed() (all []habit) {
	for _, s := range streams() {
		for _, f := range framings() {
			text := f.frame(s.text)
			all = append(all, habit{
				name: s.name + ", " + f.name, patient: true, want: []probe.Outcome{s.want},
				speak: says(text),
			})
			if len(text) < 8<<10 {
				all = append(all, habit{
					name: s.name + ", " + f.name + ", in segments of one byte", patient: true, want: []probe.Outcome{s.want},
					speak: func(p *peer) { p.spell(text) },
				})
			}
		}
	}
	return all
}

// framing puts a stream into a response.
type framing struct {
	name  string
	frame func(stream string) string
}

func framings() []framing {
	return []framing{
		{"by its end", func(s string) string { return closeHead + s }},
		{"by its length", func(s string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", ok, len(s), s) }},
		{"in one chunk", func(s string) string { return sseHead + chunkOf(s, len(s)) + lastChunk }},
		{"in chunks with extensions", func(s string) string { return sseHead + extended(chunkOf(s, 7)) + lastChunk }},
		{"after early hints", func(s string) string { return "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + closeHead + s }},
		{"in gzip", func(s string) string { return gzipHead + bomb(s, 1) }},
	}
}

// chunkOf frames a text in chunks of limited size. An empty text gives no chunk, because that would
// be the last one.
func chunkOf(s string, most int) string {
	var b strings.Builder
	for len(s) > 0 {
		n := min(most, len(s))
		b.WriteString(chunk(s[:n]))
		s = s[n:]
	}
	return b.String()
}

// extended gives each chunk of 7 bytes an extension.
func extended(chunks string) string { return strings.ReplaceAll(chunks, "7\r\n", "7;a=\"b\"\r\n") }

// aStream is a body and its outcome in every framing.
type aStream struct {
	name, text string
	want       probe.Outcome
}

func streams() []aStream {
	const (
		success   = probe.Success
		malformed = probe.Malformed
		cut       = probe.Truncated
		empty     = probe.Empty
		failed    = probe.ErrorEvent
	)
	content := func(field, text string) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{%q:"%s"}}]}`+"\n\n", field, text)
	}
	return []aStream{
		{"an answer", answer, success},
		{"an answer without [DONE]", hello + finish, success},
		{"an answer in CRLF", strings.ReplaceAll(answer, "\n", "\r\n"), success},
		{"an answer in CR", strings.ReplaceAll(answer, "\n", "\r"), success},
		{"an answer after a byte order mark", "\xEF\xBB\xBF" + answer, success},
		{"an answer between comments", ": ping\n\n" + hello + ":\n:\n\n" + finish + ": pong\n\n" + done, success},
		{"an answer without spaces", strings.ReplaceAll(answer, "data: ", "data:"), success},
		{"an answer in two data lines", strings.ReplaceAll(answer, `"delta":`, "\ndata: \"delta\":"), success},
		{"an answer whose end is cut", strings.TrimSuffix(hello+finish, "\n\n"), success},
		{"an answer among fields", "retry: 5\nid: 1\nfoo\nevent: message\n" + answer, success},
		{"an answer with bad UTF-8", content("content", "\xff\xfe") + finish, success},
		{"an answer with escapes", content("content", `\ud800 \u0000 \"`) + finish, success},
		{"an answer of reasoning", content("reasoning_content", "hm") + finish, empty},
		{"an answer of reasoning that the limit ended", content("reasoning", "hm") + strings.Replace(finish, "stop", "length", 1), success},
		{"an answer with a nonsensical usage", hello + finish + `data: {"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":99999999999999999999}}` + "\n\n", success},
		{"words after [DONE]", answer + "data: nonsense\n\n", success},
		{"an answer without end", hello + world, cut},
		{"a role alone", role, cut},
		{"a role and an end", role + finish, empty},
		{"[DONE] alone, in a frame", done, empty},
		{"nothing", "", empty},
		{"comments alone", strings.Repeat(": ping\n\n", 20), empty},
		{"empty lines alone", strings.Repeat("\n", 100), empty},
		{"fields without data", "event: message\nid: 1\n\nretry: 5\n\n", empty},
		{"an error", hello + `data: {"error":{"message":"no"}}` + "\n\n", failed},
		{"an error event", hello + "event: error\ndata: no\n\n", failed},
		{"an error as a document", `{"error":{"message":"no"}}`, failed},
		{"a document", `{"choices":[{"message":{"content":"Hello"}}]}`, malformed},
		{"HTML", "<!doctype html>\n<p>502\n\n", malformed},
		{"data that is no JSON", hello + "data: Hello\n\n", malformed},
		{"data cut amid its JSON", hello + "data: {\"choices\":[{\n\n", malformed},
		{"a number", "data: 5\n\n", malformed},
		{"NUL bytes as data", "data: \x00\x00\n\n", malformed},
		{"deep JSON", "data: {\"choices\":" + strings.Repeat("[", 2000) + "\n\n", malformed},
		{"too many tokens", strings.Repeat(hello, 64+4*hostileTokens+1) + finish, malformed},
		{"too long an answer", content("content", strings.Repeat("x", 1<<10+64*hostileTokens+1)) + finish, malformed},
		{"too much reasoning", strings.Repeat(content("reasoning", strings.Repeat("x", 1000)), 10) + finish, malformed},
		{"too large an event", content("junk", strings.Repeat("x", 200<<10)) + hello + finish, malformed},
		{"too many comments", strings.Repeat(":"+strings.Repeat("x", 1000)+"\n", maxWire/1000) + hello + finish, malformed},
	}
}
