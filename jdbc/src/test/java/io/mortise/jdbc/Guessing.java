package io.mortise.jdbc;

import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One {@link ContendedStep}. */
final class Guessing {
  private Guessing() {}

  static Rows.@Nullable Place queueUp(Rows rows, Request.Acquire request, Consumer<News> told)
      throws SQLException {
    return step(rows, request, told).place();
  }

  static boolean handOver(Rows rows, Request.Abandon request, Consumer<News> told)
      throws SQLException {
    return step(rows, request, told).reply() != null;
  }

  private static ContendedStep step(Rows rows, Request request, Consumer<News> told)
      throws SQLException {
    ContendedStep step = new ContendedStep(request);
    rows.contended(List.of(step));
    step.told().forEach(told);
    return step;
  }

  static @Nullable Reply reply(Link link, Request request) throws SQLException {
    return link.fast.contended(List.of(request)).get(0).reply();
  }
}
