// Package jsonb knows what a JSONB column can hold. JSONB is stricter than JSON: it
// has no NUL character, no unpaired surrogates, and numbers of a bounded size.
//
// Publishers call [Check] on payloads, headers and control data, so that what cannot be
// stored is refused before a statement is sent, which would fail and take the
// transaction of the caller with it.
//
//	if reason := jsonb.Check(doc); reason != "" {
//		return fault.NewInvalid("settings", reason)
//	}
//
// # Guarantees
//
// A document that passes is stored by PostgreSQL and comes back with every value as it
// was, numbers digit by digit.
//
// # Not guaranteed
//
// White space, the order of keys and all but the last of duplicate keys are not kept.
// A document that is refused may be one that PostgreSQL would take: the bounds on size
// and depth, and the way digits are counted, are on the safe side.
package jsonb
