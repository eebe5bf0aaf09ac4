package sidecar

import (
	"context"
	"log/slog"
)

// Quiet drops what is below a warning.
func Quiet(l *slog.Logger) *slog.Logger {
	return slog.New(levelled{l.Handler(), slog.LevelWarn})
}

// levelled is a handler with a higher level.
type levelled struct {
	slog.Handler
	level slog.Level
}

func (h levelled) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

func (h levelled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelled{h.Handler.WithAttrs(attrs), h.level}
}

func (h levelled) WithGroup(name string) slog.Handler {
	return levelled{h.Handler.WithGroup(name), h.level}
}
