package relay_test

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/relay"
)

// wrapped is a store whose sessions' calls can be replaced one by one.
type wrapped struct {
	relay.Store
	claim  func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error)
	settle func(ctx context.Context, next relay.Session, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error)
	renew  func(ctx context.Context, next relay.Session, ids []relay.LeaseID, d time.Duration) ([]relay.LeaseID, error)
}

func (w *wrapped) Open(o relay.SessionOptions) relay.Session {
	s := w.Store.Open(o)
	return wrappedSession{s, s.(relay.TxSession), s.(relay.Registrar), w}
}

type wrappedSession struct {
	relay.Session
	relay.TxSession
	relay.Registrar
	w *wrapped
}

func (s wrappedSession) Claim(ctx context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	if s.w.claim != nil {
		return s.w.claim(ctx, s.Session, req)
	}
	return s.Session.Claim(ctx, req)
}

func (s wrappedSession) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
	if s.w.settle != nil {
		return s.w.settle(ctx, s.Session, outcomes, ended)
	}
	return s.Session.Settle(ctx, outcomes, ended)
}

func (s wrappedSession) Renew(ctx context.Context, ids []relay.LeaseID, d time.Duration) ([]relay.LeaseID, error) {
	if s.w.renew != nil {
		return s.w.renew(ctx, s.Session, ids, d)
	}
	return s.Session.Renew(ctx, ids, d)
}
