package io.mortise.http;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;

/** A guarded value with its guard, as a database would keep them. */
public final class GuardedCell {
  private long seen;
  private String holder = "";
  private int writes;

  public synchronized void enter(FencingToken token) {
    if (token.value() < seen || (token.value() == seen && !token.holder().equals(holder))) {
      throw new StaleTokenException("the cell", token, seen, holder);
    }
    seen = token.value();
    holder = token.holder();
  }

  public synchronized void write(FencingToken token) {
    enter(token);
    writes++;
  }

  public synchronized int writes() {
    return writes;
  }
}
