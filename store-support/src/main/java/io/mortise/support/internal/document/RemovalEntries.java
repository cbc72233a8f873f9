package io.mortise.support.internal.document;

/**
 * The entries that show removals, in a server where a key that was created and removed looks as if
 * it had never existed. A removal writes one of them in the same transaction. A document is created
 * only if its entry is not newer than the preceding read. So a write that the server executes long
 * after it was given up is refused. A hash of the document's key selects the entry: a removal
 * seldom refuses the creation of another document.
 *
 * @param count the number of entries, the same in all processes
 */
public record RemovalEntries(int count) {
  /** The key of a document's entry; no document has this key. String.hashCode is specified. */
  public String keyOf(String document) {
    return "removed/" + Math.floorMod(document.hashCode(), count);
  }
}
