package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import java.util.Optional;

/**
 * News as the text of a notification, so that who hears it need not read it. Fields stand one per
 * line; names have no line ends. At most some 600 bytes, of 8000 that PostgreSQL allows.
 */
final class PostgresHints {
  /** What the name of a session's channel begins with; a table's may begin with something else. */
  static final String CHANNELS = "mortise_";

  private PostgresHints() {}

  /** The channel of one session: what is sent there reaches its process only. */
  static String channel(SessionId session) {
    return CHANNELS + session.value();
  }

  static String encode(News news) {
    String head = news.attempt().encoded() + "\n" + news.name().value();
    if (news instanceof News.Granted granted) {
      return "granted\n"
          + head
          + "\n"
          + granted.token()
          + "\n"
          + granted.tokens()
          + "\n"
          + granted.wanted()
          + "\n"
          + granted.timed();
    }
    return news instanceof News.Gone gone ? "gone\n" + head + "\n" + gone.how() : "wanted\n" + head;
  }

  /** Empty if it is not news: anybody may notify. */
  static Optional<News> decode(String payload) {
    String[] fields = payload.split("\n", -1);
    if (fields.length < 3) {
      return Optional.empty();
    }
    try {
      AttemptId attempt = AttemptId.parse(fields[1]);
      LockName name = LockName.of(fields[2]);
      return switch (fields[0] + fields.length) {
        case "granted7" ->
            Optional.of(
                new News.Granted(
                    name,
                    attempt,
                    Long.parseLong(fields[3]),
                    Integer.parseInt(fields[4]),
                    Boolean.parseBoolean(fields[5]),
                    Boolean.parseBoolean(fields[6])));
        case "gone4" -> Optional.of(new News.Gone(name, attempt, Reply.How.valueOf(fields[3])));
        case "wanted3" -> Optional.of(new News.Wanted(name, attempt));
        default -> Optional.empty();
      };
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
