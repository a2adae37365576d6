// Package pgtest gives tests a database of their own on the server that the
// environment variable SATCHEL_DATABASE_URL names. It is for tests of this module only.
//
// Each process makes one template database, by running the migration files of module
// schema twice: into the default schema, and into one whose name needs quotes
// ([Mapped]). [New] hands out copies of it. A copy is emptied and used again by the
// next test, so that a test costs milliseconds; a test that alters tables or settings
// takes one that is thrown away ([Disposable]).
//
// [Main] belongs into TestMain: it removes all databases at the end and fails the
// process when a goroutine of the module or of a driver has outlived its owner.
package pgtest
