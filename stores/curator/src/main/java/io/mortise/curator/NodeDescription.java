package io.mortise.curator;

import io.mortise.spi.ClientLabel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The data of our nodes, for people: two lines, the client and its session's TTL, then the label.
 * Curator writes its address there, and reads only a request to release ({@code __REVOKE__}), which
 * only its own revocable mutex heeds.
 */
record NodeDescription(ClientLabel client, Duration ttl, int capacity, String label) {
  byte[] encoded() {
    String text = client.encoded() + "\n" + ttl.toMillis() + " " + capacity + " " + label;
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The reverse; a foreign node's data names the client.
   *
   * @param otherTtl of a session whose data lacks it
   */
  static NodeDescription parse(byte[] data, Duration otherTtl) {
    String text = new String(data, StandardCharsets.UTF_8);
    int end = text.indexOf('\n');
    String[] second = end < 0 ? new String[0] : text.substring(end + 1).split(" ", 3);
    if (second.length == 3 && second[0].matches("\\d{1,15}") && second[1].matches("\\d{1,7}")) {
      return new NodeDescription(
          ClientLabel.parse(text.substring(0, end)),
          Duration.ofMillis(Long.parseLong(second[0])),
          Integer.parseInt(second[1]),
          second[2]);
    }
    return new NodeDescription(ClientLabel.parse(text), otherTtl, 0, "");
  }
}
