package probe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/workload"
)

const (
	// userTimeout bounds the time for one message of the user endpoint.
	userTimeout = 60 * time.Second
	// userTokens limits the length of such a message.
	userTokens = 120
	userPrompt = "You play the user of a chat assistant. Read the conversation, in which you wrote the messages " +
		"of the role assistant, and write the user's next question about it. Write the question alone."
)

// writer lets the model of the user endpoint write the user's messages.
type writer struct {
	*untimedClient
	// model is nil until the model is discovered.
	model atomic.Pointer[string]
}

func newWriter(o Options) *writer {
	w := &writer{untimedClient: newUntimedClient(*o.User, o.Workload.Name, o)}
	if o.User.Model != "" {
		w.model.Store(&o.User.Model)
	}
	return w
}

func (w *writer) next(ctx context.Context, history []workload.Message) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, userTimeout)
	defer cancel()
	model, err := w.modelName(ctx)
	if err != nil {
		return "", err
	}
	// max_tokens, because few servers know max_completion_tokens.
	body := map[string]any{"model": model, "messages": swapRoles(history), "max_tokens": userTokens}
	var c completion
	if _, err := w.do(ctx, "/chat/completions", body, &c, maxUserReply); err != nil {
		return "", fmt.Errorf("asking the user endpoint %q: %w", w.target.BaseURL, err)
	}
	if len(c.Choices) == 0 || c.Choices[0].Message.Content == "" {
		return "", errors.New("the user endpoint returned an empty message")
	}
	return clip(c.Choices[0].Message.Content, maxUserText), nil
}

func (w *writer) modelName(ctx context.Context) (string, error) {
	if model := w.model.Load(); model != nil {
		return *model, nil
	}
	model, err := discoverModel(ctx, w.untimedClient)
	if err == nil {
		w.model.Store(&model)
	}
	return model, err
}

// swapRoles returns the history from the view of the model that plays the user, whose own
// messages have the role assistant.
func swapRoles(history []workload.Message) []openai.ChatCompletionMessage {
	out := []openai.ChatCompletionMessage{{Role: "system", Content: userPrompt}}
	for _, m := range history {
		switch {
		case m.Role == "user":
			out = append(out, openai.ChatCompletionMessage{Role: "assistant", Content: m.Content})
		case m.Role == "assistant" && m.Content != "": // a user does not see tool calls
			out = append(out, openai.ChatCompletionMessage{Role: "user", Content: m.Content})
		}
	}
	return out
}
