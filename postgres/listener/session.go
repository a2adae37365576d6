package listener

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// session is one call of Run. Its goroutine is the only one that reads the
// notifications; calls of lib/pq that can block have goroutines of their own.
type session struct {
	*Listener
	dialer  *dialer // of the connection that listens
	sender  *sql.DB
	outward *dialer // of the connections of sender
	probe   string  // the channel of the listener's own notifications

	up   atomic.Bool // lib/pq has a connection
	deaf atomic.Bool // nothing was heard on several connections in a row
}

// closeGrace is how long Run waits for lib/pq to end.
const closeGrace = 2 * time.Second

// onEvent is called by lib/pq on its own goroutine. A listener that is deaf stays so
// while its connection is replaced: only a notification shows that it hears again.
func (s *session) onEvent(event pq.ListenerEventType, err error) {
	ctx := context.Background()
	switch event {
	case pq.ListenerEventConnected, pq.ListenerEventReconnected:
		s.up.Store(true)
		if !s.deaf.Load() {
			s.to(ctx, Connected, "connection made")
		}
		s.hint() // something may have been missed
	case pq.ListenerEventDisconnected:
		s.up.Store(false)
		if !s.deaf.Load() {
			s.to(ctx, Down, describe(err))
		}
	case pq.ListenerEventConnectionAttemptFailed:
		s.up.Store(false)
		s.deaf.Store(false)
		s.to(ctx, Down, describe(err))
	}
}

func (s *session) run(ctx context.Context, l *pq.Listener) error {
	var subscribing sync.WaitGroup
	for _, channel := range []string{Channel, s.probe} {
		subscribing.Go(func() { s.subscribe(ctx, l, channel) })
	}
	var (
		sent    = make(chan error, 1) // a probe was sent, or could not be
		echo    = time.NewTimer(time.Hour)
		check   = time.NewTimer(s.cfg.CheckEvery)
		pending = false // a probe was sent and not heard
		sending = false
		misses  = 0
	)
	defer echo.Stop()
	defer check.Stop()
	echo.Stop()
	for {
		select {
		case <-ctx.Done():
			s.end(l, &subscribing, sending, sent)
			return nil
		case n, open := <-l.Notify:
			if !open {
				return nil
			}
			if n != nil && n.Channel == s.probe {
				pending, misses = false, 0
				echo.Stop()
				s.deaf.Store(false)
				s.to(ctx, Connected, "notifications arrive")
				continue
			}
			s.hint() // also for nil: lib/pq has reconnected
		case <-check.C:
			check.Reset(s.cfg.CheckEvery << min(misses, 3))
			if !s.up.Load() {
				// lib/pq is reconnecting by itself, and waits without end for an answer.
				s.dialer.cut(max(dialTimeout, s.cfg.EchoTimeout))
				continue
			}
			if sending || pending {
				continue
			}
			sending = true
			go func() { sent <- s.send(ctx) }()
		case err := <-sent:
			sending = false
			switch {
			case err == nil:
				pending = true
				echo.Reset(s.cfg.EchoTimeout)
			case errors.Is(err, errNoAnswer):
				// Nothing answers; if the network is to blame, the old connection may never
				// work again, and nobody would tell.
				s.dialer.cut(0)
			}
			// Any other failure, such as too many connections, says nothing of the listener.
		case <-echo.C:
			pending = false
			misses++
			if misses > 1 {
				// A fresh connection was deaf as well.
				s.deaf.Store(true)
				s.to(ctx, Deaf, "its own notifications do not arrive; is there a pooler in between?")
			}
			s.dialer.cut(0)
		}
	}
}

// subscribe listens on a channel. What lib/pq was told once it repeats with every
// connection, but a subscription that the server refused, as a standby does, it forgets.
func (s *session) subscribe(ctx context.Context, l *pq.Listener, channel string) {
	for {
		err := l.Listen(channel) // waits for a connection, and ends with the listener
		if err == nil {
			s.hint() // what was committed before was not heard
		}
		if err == nil || errors.Is(err, net.ErrClosed) {
			return
		}
		again := time.NewTimer(s.cfg.MaxReconnect)
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
	}
}

// errNoAnswer says that the database did not answer in time.
var errNoAnswer = errors.New("no answer in time")

// send notifies the listener by another connection. lib/pq obeys ctx only as far as the
// network does; the connection's short life ends what it does not.
func (s *session) send(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.EchoTimeout)
	defer cancel()
	_, err := s.sender.ExecContext(ctx, "SELECT pg_notify($1, '')", s.probe)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errNoAnswer
	}
	return err
}

// end closes the connections first, so that no call of lib/pq can wait for them, then
// the listener, and reads what is left so that lib/pq's goroutine can end.
func (s *session) end(l *pq.Listener, subscribing *sync.WaitGroup, sending bool, sent <-chan error) {
	s.dialer.close()
	s.outward.close()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.Close()
		subscribing.Wait()
	}()
	go func() {
		for range l.Notify { // closed by lib/pq when its goroutine ends
		}
	}()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	for closed != nil || sending {
		select {
		case <-closed:
			closed = nil
		case err := <-sent:
			_, sending = err, false // whether it was sent matters no more
		case <-grace.C:
			return
		}
	}
}
