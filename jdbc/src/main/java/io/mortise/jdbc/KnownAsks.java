package io.mortise.jdbc;

import io.mortise.jdbc.Rows.Ask;
import io.mortise.jdbc.Rows.Block;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
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

  /** The length of the lists; a lock that stands there twice counts once. */
  int length() {
    return SqlText.listLength(asks.size());
  }

  /** How many locks they are about; none is asked for twice. */
  int size() {
    return asks.size();
  }

  /**
   * What each of them got, if all of them were served.
   *
   * @param token the first of each block
   */
  Map<String, Block> allServed(long token) {
    Map<String, Block> served = new HashMap<>();
    for (Ask ask : asks) {
      served.put(
          attempt(ask),
          ask.request() instanceof Request.Acquire acquire
              ? new Block(token, acquire.tokens())
              : new Block(0, 0));
    }
    return served;
  }

  @Override
  public void bind(Sql sql) throws SQLException {
    sql.set("names", each(KnownAsks::name))
        .set("free", each(ask -> takes(ask) && ask.old() == null ? name(ask) : NOBODY))
        .set("takers", each(ask -> takes(ask) ? attempt(ask) : NOBODY))
        .set("before", each(KnownAsks::old))
        .set("leavers", each(ask -> takes(ask) ? NOBODY : attempt(ask)));
    sql.set("session", like == null ? NOBODY : like.attempt().session().value())
        .set("capacity", like == null ? Mode.SHARERS : like.mode().capacity())
        .set("tokens", like == null ? 1 : like.tokens())
        .set("at_least_us", like == null ? -1 : WaitRow.length(like.terms().atLeast()))
        .set("label", like == null ? "" : like.terms().label());
  }

  private List<String> each(Function<Ask, String> value) {
    List<String> values = new ArrayList<>(asks.size());
    for (Ask ask : asks) {
      values.add(value.apply(ask));
    }
    return values;
  }

  private static boolean takes(Ask ask) {
    return ask.request() instanceof Request.Acquire;
  }

  private static String name(Ask ask) {
    return ask.request().name().value();
  }

  private static String attempt(Ask ask) {
    return ask.request().attempt().encoded();
  }

  private static String old(Ask ask) {
    return ask.old() == null ? NOBODY : ask.releasing().encoded();
  }
}
