// Package customstore is a store in as little code as keeps every promise: one slice of rows
// under one mutex. It is a skeleton for a store on another database, where each method
// becomes a transaction, and it shows what the conformance suite asks for.
//
// Of the optional abilities it has one, runs: there is no archive, no delivery in a
// transaction, no registry and no waker. Package memstore of core has them all.
package customstore
