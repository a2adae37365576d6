package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bounds of the demonstration.
const (
	defaultOrders, mostOrders = 20_000, 1_000_000
	defaultNodes, mostNodes   = 2, 8
	// leastOrders makes sure that the node to be killed has work when half is done.
	leastOrders = 100
	// patience bounds a demonstration of the default size many times over.
	patience = 10 * time.Minute
)

// demo runs the play in a database of its own and ends with the report.
func (p *process) demo(ctx context.Context) (err error) {
	flags := p.flags()
	orders := flags.String("orders", os.Getenv("ORDERS"), "number of orders to take")
	nodes := flags.String("nodes", os.Getenv("NODES"), "number of relay nodes")
	keep := flags.Bool("keep", false, "keep the database for a look at the tables")
	if err := p.parse(flags); err != nil {
		return err
	}
	c := &conductor{out: p.stdout, dest: p.dest}
	var ordersErr, nodesErr error
	c.orders, ordersErr = number("ORDERS", *orders, defaultOrders, leastOrders, mostOrders)
	c.nodes, nodesErr = number("NODES", *nodes, defaultNodes, 1, mostNodes)
	kind, kindErr := kindOf(p.dest)
	if err := errors.Join(ordersErr, nodesErr, kindErr); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the demonstration took too long"))
	defer cancel()
	db, err := newDatabase(ctx, p.dsn)
	if err != nil {
		return err
	}
	if *keep {
		defer func() { _, _ = fmt.Fprintf(p.stdout, "database %s is kept\n", db.name) }()
	} else {
		defer func() { err = errors.Join(err, db.remove(ctx)) }()
	}
	if c.transport, err = kind.openFor(db.dsn); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.stdout, "orders: %d, events of each: %d, relay nodes: %d\n", c.orders, len(eventTypes), c.nodes)
	c.dsn = db.dsn
	if err := c.run(ctx); err != nil {
		return err
	}
	judged := *p
	judged.dsn, judged.arguments = db.dsn, []string{"report", "-dest", p.dest}
	return judged.report(ctx)
}

// shop takes the orders and ends.
func (p *process) shop(ctx context.Context) error {
	flags := p.flags()
	orders := flags.Int("orders", defaultOrders, "number of orders to take")
	transport, err := p.parseWithTransport(flags)
	if err != nil {
		return err
	}
	ctx, cancel := whileParentLives(ctx, p.stdin)
	defer cancel()
	pool, err := newPool(ctx, p.dsn, shopWorkers)
	if err != nil {
		return err
	}
	defer pool.Close()
	s := &shop{pool: pool, transport: transport}
	return s.run(ctx, *orders)
}

// consume applies messages until its parent is gone.
func (p *process) consume(ctx context.Context) error {
	transport, err := p.parseWithTransport(p.flags())
	if err != nil {
		return err
	}
	ctx, cancel := whileParentLives(ctx, p.stdin)
	defer cancel()
	pool, err := newPool(ctx, p.dsn, consumerConnections)
	if err != nil {
		return err
	}
	defer pool.Close()
	c, err := newConsumer(pool, p.logger)
	if err != nil {
		return err
	}
	return transport.consume(ctx, c, func(address string) { _, _ = fmt.Fprintln(p.stdout, address) })
}

// relay delivers entries until its parent is gone.
func (p *process) relay(ctx context.Context) error {
	flags := p.flags()
	number := flags.Int("node", 0, "number of this node, from 0")
	nodes := flags.Int("nodes", 1, "number of nodes")
	address := flags.String("consumer", "", "address of the consumer, as it says itself")
	hold := flags.String("hold-from", "", "first order whose deliveries are not settled; they are counted on standard output")
	transport, err := p.parseWithTransport(flags)
	if err != nil {
		return err
	}
	n := node{
		dsn: p.dsn, name: nodeName(*number), hosted: hosted(*number, *nodes, transport.names()),
		consumer: *address, transport: transport, logger: p.logger,
	}
	if *hold != "" {
		n.gate = &gate{from: *hold, report: func(held int) { _, _ = fmt.Fprintln(p.stdout, held) }}
	}
	ctx, cancel := whileParentLives(ctx, p.stdin)
	defer cancel()
	return n.run(ctx)
}

// report prints the reconciliation.
func (p *process) report(ctx context.Context) error {
	if err := p.parse(p.flags()); err != nil {
		return err
	}
	kind, err := kindOf(p.dest)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, p.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return report(ctx, conn, kind, p.stdout)
}
