package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/api"
	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
)

const (
	// askTimeout bounds one answer of a few tokens.
	askTimeout = 30 * time.Second
	// maxReply bounds it in bytes; the alternatives of 256 tokens have some 200,000.
	maxReply = 1 << 20
	// alternatives are asked for beside each token: more than five OpenAI's own
	// deployments and some others refuse.
	alternatives = 5
)

// Asker asks a target's chat completions, see target.Chat, single prompts at temperature 0, for
// canaries: what comes is not timed, and enters no metric of turns. It is safe for
// concurrent use; Close it at the end.
type Asker struct {
	target, chat target.Target
	auth         *target.Authorizer
	client       *wire.Client
	learned      *Learned
}

// NewAsker returns an Asker with the Target, the Dial and the Learned of Options.
func NewAsker(o Options) *Asker {
	chat := o.Target.Chat()
	return &Asker{
		target: o.Target, chat: chat, learned: cmp.Or(o.Learned, &Learned{}),
		auth: target.NewAuthorizer(chat, "canary"), client: newClient(chat, o),
	}
}

// Close drops the idle connections.
func (a *Asker) Close() {
	a.auth.Close()
	a.client.CloseIdleConnections()
}

// Model returns the configured model, or the first that the target lists.
func (a *Asker) Model(ctx context.Context) (string, error) {
	if a.target.Model != "" {
		return a.target.Model, nil
	}
	auth := target.NewAuthorizer(a.target, "canary") // its list is not that of chat completions
	defer auth.Close()
	return discoverModel(ctx, a.target, auth, a.client)
}

// Asked is a round, and what is said beside its answers.
type Asked struct {
	answers.Round
	// Fingerprint is what the server called itself last, Tokens what the round took
	// of prompt and output.
	Fingerprint string
	Tokens      int
}

// Round asks all prompts for so many tokens, one after the other or at once. The
// first that is not answered ends it.
func (a *Asker) Round(ctx context.Context, model string, prompts []string, most int, atOnce bool) (Asked, error) {
	all := Asked{Round: make(answers.Round, len(prompts))}
	errs := make([]error, len(prompts))
	var mu sync.Mutex
	one := func(i int) {
		answer, said, err := a.ask(ctx, model, prompts[i], most)
		all.Round[i], errs[i] = answer, err
		mu.Lock()
		defer mu.Unlock()
		all.Fingerprint, all.Tokens = said.Fingerprint, all.Tokens+tokens(said.Usage.TotalTokens).V
	}
	var asking sync.WaitGroup
	for i := range prompts {
		if atOnce {
			asking.Go(func() { one(i) })
		} else if one(i); errs[i] != nil {
			break
		}
	}
	asking.Wait()
	return all, errors.Join(errs...)
}

// ask sends one prompt. A server that refuses log-probabilities is asked without.
func (a *Asker) ask(ctx context.Context, model, prompt string, tokens int) (answers.CanaryAnswer, reply, error) {
	said, status, err := a.send(ctx, model, prompt, tokens, map[string]any{"logprobs": true, "top_logprobs": alternatives})
	if refusesBody(status) {
		said, _, err = a.send(ctx, model, prompt, tokens, nil)
	}
	if err != nil {
		return answers.CanaryAnswer{}, said, fmt.Errorf("asking %q: %w", a.target.BaseURL, err)
	}
	if len(said.Choices) == 0 {
		return answers.CanaryAnswer{}, said, fmt.Errorf("asking %q: the answer has no choice", a.target.BaseURL)
	}
	return answerOf(said.Choices[0]), said, nil
}

// reply is a chat completion, as far as it is read.
type reply struct {
	Model       string       `json:"model"`
	Fingerprint string       `json:"system_fingerprint"`
	Usage       openai.Usage `json:"usage"`
	Choices     []choice     `json:"choices"`
}

type choice struct {
	Message struct {
		Content string `json:"content"`
		// Servers have one of two names for what a model thought.
		Reasoning        string `json:"reasoning"`
		ReasoningContent string `json:"reasoning_content"`
	} `json:"message"`
	LogProbs *openai.LogProbs `json:"logprobs"`
}

// send posts, and once more where the limit has to have its other name.
func (a *Asker) send(ctx context.Context, model, prompt string, tokens int, more map[string]any) (reply, int, error) {
	limit := a.learned.limitField(a.chat)
	said, status, err := a.post(ctx, model, prompt, limit, tokens, more)
	if err == nil {
		return said, status, nil
	}
	if again, _ := a.learned.learn(a.chat, limit, status, err.Error()); !again {
		return said, status, err
	}
	return a.post(ctx, model, prompt, a.learned.limitField(a.chat), tokens, more)
}

// post sends one request and reads what comes. The fields that the target adds
// are part of how its model is used; those that a canary needs go before.
func (a *Asker) post(ctx context.Context, model, prompt string, limit target.LimitField, tokens int, more map[string]any) (said reply, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	header, err := a.auth.Header(ctx)
	if err != nil {
		return said, 0, err
	}
	fields := map[string]any{}
	maps.Copy(fields, a.target.Extra)
	maps.Copy(fields, more)
	maps.Copy(fields, map[string]any{
		"model": model, "temperature": 0, "stream": false, string(limit): tokens,
		"messages": []openai.ChatCompletionMessage{{Role: "user", Content: prompt}},
	})
	body, err := json.Marshal(fields)
	if err != nil {
		return said, 0, fmt.Errorf("encoding the extra body fields: %w", err)
	}
	scrub := newScrubber(header)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.chat.BaseURL+api.ChatPath(a.chat, model), bytes.NewReader(body))
	if err != nil {
		return said, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := headerTransport{header, maxReply, a.client}.RoundTrip(req)
	if err != nil {
		return said, 0, errors.New(scrub.clean(err.Error()))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		err = errors.New(scrub.clean(err.Error()))
	case resp.StatusCode/100 != 2:
		err = fmt.Errorf("HTTP %d: %s", resp.StatusCode, scrub.clean(stream.ErrorMessage(text)))
	case json.Unmarshal(text, &said) != nil:
		err = errors.New("the answer is no chat completion: " + scrub.clean(clip(string(text), maxErr)))
	}
	return said, resp.StatusCode, err
}

func answerOf(c choice) answers.CanaryAnswer {
	a := answers.CanaryAnswer{Text: cmp.Or(c.Message.ReasoningContent, c.Message.Reasoning) + c.Message.Content}
	if c.LogProbs == nil {
		return a
	}
	for _, t := range c.LogProbs.Content {
		token := answers.Token{Text: t.Token, Logprob: t.LogProb}
		for _, o := range t.TopLogProbs {
			token.Others = append(token.Others, answers.Token{Text: o.Token, Logprob: o.LogProb})
		}
		a.Tokens = append(a.Tokens, token)
	}
	return a
}
