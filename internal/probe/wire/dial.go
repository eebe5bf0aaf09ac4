package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"time"
)

// dial makes a connection for u and times its steps.
func (c *Client) dial(ctx context.Context, u *url.URL, trace *Trace) (*conn, error) {
	bounded, cancel := bound(ctx, trace.HeaderDeadline)
	defer cancel()
	addrs, err := c.resolve(bounded, u, trace)
	if err != nil {
		return nil, c.dialFailure(ctx, bounded, StepDNS, err)
	}
	start := time.Now()
	raw, err := c.dialAny(bounded, addrs)
	trace.Connect = time.Since(start)
	if err != nil {
		return nil, c.dialFailure(ctx, bounded, StepConnect, err)
	}
	stamps := stamp(raw)
	if u.Scheme == "http" {
		return &conn{Conn: stamps, stamps: stamps}, nil
	}
	start = time.Now()
	secure, err := c.handshake(bounded, stamps, u.Hostname())
	trace.TLS = time.Since(start)
	if err != nil {
		stamps.Close()
		return nil, c.dialFailure(ctx, bounded, StepTLS, err)
	}
	return &conn{Conn: secure, stamps: stamps}, nil
}

// bound is context.WithDeadline for a deadline that may be none.
func bound(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}

// dialFailure tells the caller's cancellation from the header deadline.
func (c *Client) dialFailure(ctx, bounded context.Context, step Step, err error) error {
	if ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	}
	return failure(ctx, step, err)
}

// resolve returns the addresses to try, "ip:port" each, at least one.
func (c *Client) resolve(ctx context.Context, u *url.URL, trace *Trace) ([]string, error) {
	host, port := u.Hostname(), portOf(u)
	lookup := c.options.Resolve
	if _, err := netip.ParseAddr(host); err == nil || lookup == nil && c.options.Dial != nil {
		return []string{net.JoinHostPort(host, port)}, nil
	}
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	start := time.Now()
	ips, err := lookup(ctx, host)
	trace.DNS = time.Since(start)
	if err != nil {
		return nil, err
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("the name %q has no address", host)
	}
	addrs := make([]string, len(ips))
	for i, ip := range ips {
		addrs[i] = net.JoinHostPort(ip.Unmap().String(), port)
	}
	return addrs, nil
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// dialAny returns the first connection that one of the addresses gives, or
// the errors of all.
func (c *Client) dialAny(ctx context.Context, addrs []string) (net.Conn, error) {
	dial := c.options.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	var errs []error
	for i, addr := range addrs {
		conn, err := dialShare(ctx, dial, addr, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// dialShare dials one address with its share of the time that is left, so
// that a silent address does not use up the chance of the next.
func dialShare(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), addr string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		share := time.Until(deadline) / time.Duration(left)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return dial(ctx, "tcp", addr)
}

// handshake makes a TLS connection over raw. The deadline of ctx and its
// cancellation act on raw, which saves the goroutine of HandshakeContext.
func (c *Client) handshake(ctx context.Context, raw net.Conn, host string) (*tls.Conn, error) {
	config := &tls.Config{}
	if c.options.TLSConfig != nil {
		given, err := c.options.TLSConfig()
		if err != nil {
			return nil, err
		}
		config = given.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	config.NextProtos = []string{"http/1.1"}
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(longAgo()) })
	secure := tls.Client(raw, config)
	err := secure.Handshake()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	return secure, err
}
