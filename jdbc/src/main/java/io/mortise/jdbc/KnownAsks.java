package io.mortise.jdbc;

import io.mortise.jdbc.Rows.Ask;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Several requests as {@code together_known} can serve them: releases, and acquires that differ in
 * nothing but the lock and the attempt, of locks that this process has asked for before. Most often
 * all that travel together are such.
 */
final class KnownAsks implements Statements.Binder {
  /** What stands in a list where there is nobody: no name, and no attempt. */
  private static final String NOBODY = "";

  private final List<Ask> asks;
  private final Request.@Nullable Acquire like;

  private KnownAsks(List<Ask> asks, Request.@Nullable Acquire like) {
    this.asks = asks;
    this.like = like;
  }

  /**
   * The requests, or null if not all of them are such.
   *
   * @param asks sorted by name
   */
  static @Nullable KnownAsks of(List<Ask> asks) {
    Request.Acquire like = null;
    for (Ask ask : asks) {
      if (ask.isNew()) {
        return null;
      }
      if (ask.request() instanceof Request.Acquire acquire) {
        like = like == null ? acquire : like;
        if (acquire.tokenFloor() != 0
            || acquire.terms().atMost() != null
            || !isLike(acquire, like)) {
          return null;
        }
      }
    }
    return new KnownAsks(asks, like);
  }

  private static boolean isLike(Request.Acquire acquire, Request.Acquire other) {
    return acquire.attempt().session().equals(other.attempt().session())
        && acquire.mode().capacity() == other.mode().capacity()
        && acquire.tokens() == other.tokens()
        && acquire.terms().equals(other.terms());
  }

  /** The length of the lists. */
  int length() {
    return SqlText.listLength(asks.size());
  }

  @Override
  public void bind(Sql sql) throws SQLException {
    List<String> names = new ArrayList<>();
    List<String> free = new ArrayList<>();
    List<String> takers = new ArrayList<>();
    List<String> before = new ArrayList<>();
    List<String> leavers = new ArrayList<>();
    int length = length();
    for (int i = 0; i < length; i++) {
      // A name that stands there twice counts once.
      Ask ask = asks.get(Math.min(i, asks.size() - 1));
      String name = ask.request().name().value();
      String attempt = ask.request().attempt().encoded();
      boolean takes = ask.request() instanceof Request.Acquire;
      AttemptId old = ask.old();
      names.add(name);
      free.add(takes && old == null ? name : NOBODY);
      takers.add(takes ? attempt : NOBODY);
      before.add(old == null ? NOBODY : old.encoded());
      leavers.add(takes ? NOBODY : attempt);
    }
    sql.set("names", names)
        .set("free", free)
        .set("takers", takers)
        .set("before", before)
        .set("leavers", leavers)
        .set("session", like == null ? NOBODY : like.attempt().session().value())
        .set("capacity", like == null ? 0 : like.mode().capacity())
        .set("tokens", like == null ? 1 : like.tokens())
        .set("at_least_us", like == null ? -1 : WaitRow.length(like.terms().atLeast()))
        .set("label", like == null ? "" : like.terms().label());
  }
}
