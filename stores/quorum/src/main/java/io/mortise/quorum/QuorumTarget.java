package io.mortise.quorum;

import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;

/** The members, and their options. */
record QuorumTarget(List<StoreUrl> members, QuorumOptions options) {
  private static final String PREFIX = "quorum:";

  /** A comma ends a member only before another URL; other commas belong to the member. */
  private static final Pattern COMMA = Pattern.compile(",(?=mem:|jdbc:|[a-z][a-z0-9+.-]*://)");

  static QuorumTarget parse(StoreUrl url) {
    QuorumOptions defaults = QuorumOptions.DEFAULT;
    QuorumOptions options =
        defaults
            .withMemberTimeout(url.duration("member-timeout", defaults.memberTimeout()))
            .withQuarantine(url.duration("quarantine", defaults.quarantine()));
    if (!url.base().startsWith(PREFIX)) {
      throw new IllegalArgumentException("'" + url + "' is not a quorum URL.");
    }
    String[] bases = COMMA.split(url.base().substring(PREFIX.length()), -1);
    String passedOn = url.parametersExcept("member-timeout", "quarantine");
    List<StoreUrl> members = new ArrayList<>();
    HashSet<String> different = new HashSet<>();
    for (String base : bases) {
      members.add(StoreUrl.parse(base + "?" + passedOn));
      if (!different.add(base)) {
        throw new IllegalArgumentException(
            "A member stands twice in store URL '" + url + "': two votes of one server are one.");
      }
    }
    if (members.size() < QuorumStore.FEWEST || members.size() > QuorumStore.MOST) {
      throw new IllegalArgumentException(
          "Store URL '%s' names %s members. A quorum has %s to %s; write it like quorum:redis://a,redis://b,redis://c."
              .formatted(url, members.size(), QuorumStore.FEWEST, QuorumStore.MOST));
    }
    return new QuorumTarget(members, options);
  }

  QuorumLockStore connect(Ticker ticker) {
    return QuorumConnector.connect(members, LockStore::connect, options, ticker);
  }
}
