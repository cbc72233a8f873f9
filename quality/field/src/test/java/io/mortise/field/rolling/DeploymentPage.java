package io.mortise.field.rolling;

import io.mortise.field.rolling.Customers.Order;
import io.mortise.field.rolling.DeploymentChecker.Violation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** A page with a time line of a deployment: faults by victim, orders, violations. Immutable. */
final class DeploymentPage {
  private static final int WIDTH = 1500;
  private static final int LEFT = 90;
  private static final int ROW = 22;
  private static final int CHART = 120;

  private final RollingDeployment.Plan plan;
  private final List<FaultWindow> faults;
  private final List<Order> orders;
  private final long from;
  private final long until;

  DeploymentPage(RollingDeployment.Plan plan, List<FaultWindow> faults, List<Order> orders) {
    this.plan = plan;
    this.faults = faults;
    this.orders = orders;
    this.from = orders.stream().mapToLong(Order::asked).min().orElse(0);
    this.until = orders.stream().mapToLong(Order::answered).max().orElse(1);
  }

  /** Returns some lines of figures. */
  String summary(
      int cronRuns, DeploymentChecker checker, ProcessFootprint first, ProcessFootprint last) {
    long served = orders.stream().filter(order -> order.status() == 200).count();
    long longest =
        orders.stream()
            .filter(order -> order.status() == 200)
            .mapToLong(Order::millis)
            .max()
            .orElse(0);
    return String.join(
        "\n",
        "seed " + plan.seed() + ", " + (until - from) / 1000 + " s, TTL " + plan.ttl(),
        faults.size()
            + " faults of "
            + kinds()
            + " kinds; "
            + orders.size()
            + " orders, "
            + served
            + " served, the longest"
            + " in "
            + longest
            + " ms; "
            + cronRuns
            + " runs of the cron",
        "kept at first: " + first.figures(),
        "kept at last:  " + last.figures(),
        checker.violations().isEmpty()
            ? "nothing was violated"
            : checker.violations().size() + " violations");
  }

  private long kinds() {
    return faults.stream().map(FaultWindow::fault).distinct().count();
  }

  /** Writes the page and returns its path. */
  Path write(Path folder, String summary, List<Violation> violations) throws IOException {
    List<String> svg = new ArrayList<>();
    Map<String, List<FaultWindow>> rows = new TreeMap<>();
    for (FaultWindow fault : faults) {
      (fault.victims().isEmpty()
              ? new TreeSet<>(List.of(fault.fault().scope().name().toLowerCase(Locale.ROOT)))
              : new TreeSet<>(fault.victims()))
          .forEach(victim -> rows.computeIfAbsent(victim, key -> new ArrayList<>()).add(fault));
    }
    int y = 10;
    for (Map.Entry<String, List<FaultWindow>> row : rows.entrySet()) {
      text(svg, 0, y + 15, row.getKey());
      for (FaultWindow fault : row.getValue()) {
        box(
            svg,
            fault.from(),
            fault.until(),
            y,
            fault.fault().isAnnounced() ? "#9cc3e6" : "#e6a35c");
        text(svg, x(fault.from()), y + 15, fault.fault().text());
      }
      y += ROW;
    }
    orders(svg, y);
    y += CHART;
    for (Violation violation : violations) {
      svg.add(
          "<circle cx='%s' cy='%s' r='5' fill='#c00'><title>%s</title></circle>"
              .formatted(x(violation.at()), y, escaped(violation.text())));
    }
    StringBuilder list = new StringBuilder();
    for (Violation violation : violations) {
      list.append("<li>%s s: %s</li>\n".formatted(seconds(violation), escaped(violation.text())));
    }
    String page =
        """
        <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Rolling deployment</title>
        <style>body{font:14px sans-serif}text{font:11px sans-serif}</style>
        <h1>Rolling deployment</h1><pre>%s</pre>
        <svg width="%s" height="%s">%s</svg>
        <p>Blue: asked to end. Orange: done to it. Grey: the longest order that was asked in each
        second, up to 20 s; red: one without the answer 200. Dots: violations.</p><ul>%s</ul></html>
        """
            .formatted(escaped(summary), WIDTH, y + 20, String.join("\n", svg), list);
    return Files.writeString(folder.resolve("deployment.html"), page);
  }

  private long seconds(Violation violation) {
    return (violation.at() - from) / 1000;
  }

  private void orders(List<String> svg, int y) {
    Map<Long, Long> longest = new TreeMap<>();
    TreeSet<Long> failed = new TreeSet<>();
    for (Order order : orders) {
      long second = order.asked() / 1000;
      longest.merge(second, order.millis(), Math::max);
      if (order.status() != 200) {
        failed.add(second);
      }
    }
    longest.forEach(
        (second, millis) -> {
          long height = Math.max(1, Math.min(20_000, millis) * (CHART - 15) / 20_000);
          svg.add(
              "<rect x='%s' y='%s' width='2' height='%s' fill='%s'/>"
                  .formatted(
                      x(second * 1000),
                      y + CHART - 10 - height,
                      height,
                      failed.contains(second) ? "#d66" : "#999"));
        });
  }

  private long x(long millis) {
    return LEFT + (WIDTH - LEFT) * (millis - from) / Math.max(1, until - from);
  }

  private void box(List<String> svg, long begin, long end, int y, String color) {
    svg.add(
        String.format(
            Locale.ROOT,
            "<rect x='%d' y='%d' width='%d' height='%d' fill='%s'/>",
            x(begin),
            y,
            Math.max(2, x(end) - x(begin)),
            ROW - 4,
            color));
  }

  private static void text(List<String> svg, long x, int y, String text) {
    svg.add("<text x='%s' y='%s'>%s</text>".formatted(x, y, escaped(text)));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;");
  }
}
