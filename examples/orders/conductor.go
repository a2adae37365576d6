package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// absence is how long the killed node stays away: longer than its leases, so that
	// the others have taken its entries back before it returns.
	absence = 2 * leaseTimeout
	// actEvery is how often the conductor looks whether it is time for its next act.
	actEvery = 50 * time.Millisecond
)

// conductor runs the whole play: a consumer, some relay nodes and a shop, each a
// process, one of which it kills half-way. All its fields belong to run.
type conductor struct {
	orders, nodes int
	dest          string
	transport     transport
	dsn           string
	out           io.Writer

	began     time.Time
	conn      *pgx.Conn
	stage     stage
	address   string // the consumer's
	consumer  *child
	relays    []*child
	shop      *child
	killedAt  time.Time
	restarted bool
}

// run returns nil once everything is delivered, the killed node included.
func (c *conductor) run(ctx context.Context) (err error) {
	c.began = time.Now()
	if c.conn, err = pgx.Connect(ctx, c.dsn); err != nil {
		return err
	}
	defer func() { _ = c.conn.Close(context.WithoutCancel(ctx)) }()
	if c.stage, err = c.transport.prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stage.remove(context.WithoutCancel(ctx))) }()
	defer func() { err = errors.Join(err, c.stopAll()) }()
	if err := c.startAll(ctx); err != nil {
		return err
	}
	act, show := time.NewTicker(actEvery), time.NewTicker(time.Second)
	defer act.Stop()
	defer show.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-act.C:
			if err := c.act(ctx); err != nil {
				return err
			}
		case <-show.C:
			sold := c.shop.gone() // asked first: what it wrote until then is in the count
			p, err := readProgress(ctx, c.conn, c.stage)
			if err != nil {
				return err
			}
			c.say("%s", p)
			switch done := sold && p.backlog+p.inTransit == 0; {
			case done && c.restarted:
				return nil
			case done && c.killedAt.IsZero(): // nothing is held, or it would be in the backlog
				return fmt.Errorf("%s had nothing to deliver in the second half: take more orders", nodeName(victim(c.nodes)))
			}
		}
	}
}

// start starts a process of the play with what all of them need.
func (c *conductor) start(ctx context.Context, name, command string, arguments ...string) (*child, error) {
	environment := append([]string{urlVariable + "=" + c.dsn}, c.stage.environment()...)
	return start(ctx, name, environment, append([]string{command, "-dest", c.dest}, arguments...)...)
}

// startAll starts the processes; the consumer first, since the nodes may need its address.
func (c *conductor) startAll(ctx context.Context) error {
	var err error
	if c.consumer, err = c.start(ctx, "consumer", "consumer"); err != nil {
		return err
	}
	select {
	case c.address = <-c.consumer.said:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c.address == "" {
		return errors.New("the consumer did not tell its address")
	}
	c.say("consumer receives at %s", c.address)
	c.relays = make([]*child, c.nodes)
	for n := range c.nodes {
		if err := c.startNode(ctx, n); err != nil {
			return err
		}
	}
	c.shop, err = c.start(ctx, "shop", "shop", "-orders", strconv.Itoa(c.orders))
	return err
}

func (c *conductor) startNode(ctx context.Context, n int) (err error) {
	arguments := []string{"-node", strconv.Itoa(n), "-nodes", strconv.Itoa(c.nodes), "-consumer", c.address}
	if n == victim(c.nodes) && c.killedAt.IsZero() {
		arguments = append(arguments, "-hold-from", orderID(c.orders/2+1))
	}
	if c.relays[n], err = c.start(ctx, nodeName(n), "relay", arguments...); err != nil {
		return err
	}
	c.say("%s serves %s", nodeName(n), strings.Join(hosted(n, c.nodes, c.transport.names()), " and "))
	return nil
}

// act does what is due: it kills the node once that has deliveries which are made and
// not settled, and starts it again a while later.
func (c *conductor) act(ctx context.Context) error {
	if err := c.failed(); err != nil {
		return err
	}
	n := victim(c.nodes)
	switch {
	case c.restarted:
		return nil
	case !c.killedAt.IsZero():
		if time.Since(c.killedAt) < absence {
			return nil
		}
		c.restarted = true
		return c.startNode(ctx, n)
	}
	select {
	case held, open := <-c.relays[n].said:
		if !open {
			return nil // it has ended by itself, which failed will report
		}
		if err := c.relays[n].kill(); err != nil {
			return err
		}
		c.killedAt = time.Now()
		c.say("%s killed; deliveries made and not settled: %s", nodeName(n), held)
	default:
	}
	return nil
}

// failed reports a process that ended although nobody told it to.
func (c *conductor) failed() error {
	away := c.relays[victim(c.nodes)]
	for _, p := range append([]*child{c.consumer}, c.relays...) {
		if p.gone() && (p != away || c.killedAt.IsZero() || c.restarted) {
			return errors.Join(fmt.Errorf("%s ended", p.name), p.err)
		}
	}
	if c.shop.gone() && c.shop.err != nil {
		return fmt.Errorf("shop: %w", c.shop.err)
	}
	return nil
}

// stopAll stops what runs: senders before those who receive from them.
func (c *conductor) stopAll() error {
	var problems []error
	for _, p := range append(append([]*child{c.shop}, c.relays...), c.consumer) {
		if p != nil && !p.gone() {
			problems = append(problems, p.stop())
		}
	}
	return errors.Join(problems...)
}

// say prints one line with the time since the start.
func (c *conductor) say(format string, arguments ...any) {
	_, _ = fmt.Fprintf(c.out, "%5.1fs  %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, arguments...))
}
