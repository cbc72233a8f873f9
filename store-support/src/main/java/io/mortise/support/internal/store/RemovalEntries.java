package io.mortise.support.internal.store;

/**
 * The entries that show removals, where a key that was made and removed since looks as if it had
 * never been. A removal writes one of them in the same transaction. A document is made only if its
 * entry is not newer than the look. So a write that the server executes long after it was given up
 * is refused. A hash of the document's key chooses the entry: a removal seldom refuses the creation
 * of another document.
 *
 * @param count how many there are, the same in all processes
 */
public record RemovalEntries(int count) {
  /** The key of a document's entry, which no document has. String.hashCode is specified. */
  public String keyOf(String document) {
    return "removed/" + Math.floorMod(document.hashCode(), count);
  }
}
