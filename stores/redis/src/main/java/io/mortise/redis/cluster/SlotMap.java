package io.mortise.redis.cluster;

import io.mortise.redis.transport.Endpoint;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The node that serves each slot, as one node reported. Immutable. */
final class SlotMap {
  /** Nothing is known. */
  static final SlotMap EMPTY = new SlotMap(new Endpoint[0], Map.of());

  private final @Nullable Endpoint[] owners;
  private final Map<String, Endpoint> masters;

  private SlotMap(@Nullable Endpoint[] owners, Map<String, Endpoint> masters) {
    this.owners = owners;
    this.masters = masters;
  }

  /**
   * Reads the answer to CLUSTER SLOTS.
   *
   * @param asked the node that answered: its credentials, and its host if it does not know its own
   * @throws RuntimeException if the answer has another form
   */
  static SlotMap parse(List<?> ranges, Endpoint asked) {
    @Nullable Endpoint[] owners = new @Nullable Endpoint[HashSlots.COUNT];
    Map<String, Endpoint> masters = new LinkedHashMap<>();
    for (Object one : ranges) {
      List<?> range = (List<?>) one;
      List<?> master = (List<?>) range.get(2);
      Endpoint told =
          asked.at(host(master, asked), Integer.parseInt(String.valueOf(master.get(1))));
      Endpoint node = masters.computeIfAbsent(told.toString(), unused -> told);
      Arrays.fill(
          owners,
          Integer.parseInt(String.valueOf(range.get(0))),
          Integer.parseInt(String.valueOf(range.get(1))) + 1,
          node);
    }
    return new SlotMap(owners, masters);
  }

  /**
   * The host of a node. An empty text stands for the host that was asked, a question mark for an
   * unknown name, which may have the address beside it.
   */
  private static String host(List<?> node, Endpoint asked) {
    Object host = node.get(0);
    if (host instanceof String name && !name.isEmpty() && !name.equals("?")) {
      return name;
    }
    List<?> more =
        "?".equals(host) && node.size() > 3 && node.get(3) instanceof List<?> list
            ? list
            : List.of();
    int at = more.indexOf("ip");
    return at >= 0 && at + 1 < more.size() && more.get(at + 1) instanceof String ip && !ip.isEmpty()
        ? ip
        : asked.host();
  }

  /** The node that serves the slot; null if there is none. */
  @Nullable Endpoint owner(int slot) {
    return owners.length == 0 ? null : owners[slot];
  }

  /** All nodes that serve slots, by {@code host:port}. */
  Map<String, Endpoint> masters() {
    return masters;
  }

  /** Whether both maps agree on every slot. */
  boolean agreesWith(SlotMap other) {
    return Arrays.equals(owners, other.owners);
  }

  /** The same, with one slot served by another node. */
  SlotMap with(int slot, Endpoint owner) {
    @Nullable Endpoint[] changed =
        owners.length == 0 ? new @Nullable Endpoint[HashSlots.COUNT] : owners.clone();
    changed[slot] = owner;
    Map<String, Endpoint> more = new HashMap<>(masters);
    more.put(owner.toString(), owner);
    return new SlotMap(changed, more);
  }
}
