package io.mortise.guarantee;

import io.mortise.annotation.Beta;

/**
 * A kind of store in one of the setups that change its guarantees.
 *
 * @param id for programs: {@code redis/everysec}; the store alone if it has one mode only
 * @param title for people
 */
@Beta
public record StoreMode(String id, String title) {
  /** The kind of store: the part before the slash. */
  public String store() {
    int slash = id.indexOf('/');
    return slash < 0 ? id : id.substring(0, slash);
  }
}
