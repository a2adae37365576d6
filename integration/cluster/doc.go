// Package cluster tests several relays on one database: order across nodes that can deliver different things, nodes in
// different schemas, a database that fails over or refuses to record, and a network that swallows everything. It also pins
// the rules of order that an application can run into.
package cluster
