package io.mortise.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The dashboard and the alert rules use only metrics that a process exposes to Prometheus. */
class DashboardTest {
  private static final Pattern SELECTOR = Pattern.compile("(mortise_\\w+)(?:\\{([^}]*)})?");
  private static final Pattern MATCHER = Pattern.compile("(\\w+)(=~|!~|!=|=)\"([^\"]*)\"");
  private static final Pattern SAMPLE = Pattern.compile("(mortise_\\w+)\\{([^}]*)} .*");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern SHOWN = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");

  /** Labels that Prometheus adds to each sample. */
  private static final Set<String> OF_SCRAPE = Set.of("job", "instance");

  /** Published metrics, and the names of their labels. */
  private static final Map<String, Set<String>> SCRAPED = new HashMap<>();

  private static final Map<String, Set<String>> VALUES =
      Map.of(
          "outcome",
          values(AcquireOutcome.values(), RenewalOutcome.values()),
          "cause",
          values(LeaseEnd.values()),
          "twice",
          Set.of("true", "false"));

  private static Set<String> values(Enum<?>[]... enums) {
    return Arrays.stream(enums).flatMap(Stream::of).map(LockTags::text).collect(Collectors.toSet());
  }

  @BeforeAll
  static void scrape() throws Exception {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    LockMetrics metrics = LockMetrics.builder(registry).withHistograms().build();
    try (LockClient locks =
        LockClient.builder().url("mem:dashboard").name("billing").listener(metrics).build()) {
      locks.lock("invoice/1").acquire().close();
      FencingToken token = new FencingToken("invoice/1", 3, "holder");
      metrics.fenceRefused(new StaleTokenException("table", token, 4, "other"));
      try (Lease lease = locks.lock("invoice/1").acquire()) {
        lease.ensureValid();
        BoundedWait.until(
            Duration.ofSeconds(20),
            "the session was told",
            () -> registry.scrape().contains("mortise_session_ttl_seconds{"));
        read(registry.scrape());
      }
    }
  }

  private static void read(String text) {
    text.lines()
        .map(SAMPLE::matcher)
        .filter(Matcher::matches)
        .forEach(
            sample -> {
              Set<String> labels =
                  SCRAPED.computeIfAbsent(sample.group(1), name -> new HashSet<>());
              Matcher label = LABEL.matcher(sample.group(2));
              while (label.find()) {
                labels.add(label.group(1));
              }
            });
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(
        DashboardTest.class.getResourceAsStream("/META-INF/mortise/" + name), name);
  }

  private static void check(String where, String expression) {
    Matcher selector = SELECTOR.matcher(expression);
    int selectors = 0;
    while (selector.find()) {
      selectors++;
      assertThat(SCRAPED).as(where).containsKey(selector.group(1));
      Set<String> labels = SCRAPED.get(selector.group(1));
      Matcher matcher = MATCHER.matcher(selector.group(2) == null ? "" : selector.group(2));
      while (matcher.find()) {
        String label = matcher.group(1);
        assertThat(OF_SCRAPE.contains(label) || labels.contains(label))
            .as(where + ": label " + label + " of " + selector.group(1))
            .isTrue();
        if (VALUES.containsKey(label)) {
          assertThat(VALUES.get(label)).as(where).contains(matcher.group(3).split("\\|"));
        }
      }
    }
    assertThat(selectors).as(where).isPositive();
    for (String pair : new String[] {"()", "{}", "[]"}) {
      assertThat(expression.chars().filter(c -> c == pair.charAt(0)).count())
          .as(where + ": " + expression)
          .isEqualTo(expression.chars().filter(c -> c == pair.charAt(1)).count());
    }
  }

  /** Labels that a text shows must be among those of the first metric of the expression. */
  private static void checkShown(String where, String expression, String shown) {
    Matcher selector = SELECTOR.matcher(expression);
    assertThat(selector.find()).isTrue();
    Matcher label = SHOWN.matcher(shown);
    while (label.find()) {
      assertThat(
              OF_SCRAPE.contains(label.group(1))
                  || SCRAPED.get(selector.group(1)).contains(label.group(1)))
          .as(where + " shows " + label.group(1))
          .isTrue();
      if (expression.contains(" by (")) {
        assertThat(expression).as(where).containsPattern("by \\([^)]*\\b" + label.group(1) + "\\b");
      }
    }
  }

  @Test
  void givenDashboard_thenItsQueriesFindWhatIsPublished() throws IOException {
    Map<String, Object> dashboard;
    try (InputStream text = resource("grafana-dashboard.json")) {
      dashboard = JSON.std.mapFrom(text);
    }
    assertThat(dashboard).doesNotContainKey("__inputs").containsKeys("uid", "title", "panels");
    List<Map<String, Object>> variables = maps(map(dashboard.get("templating")).get("list"));
    assertThat(variables.get(0))
        .containsEntry("type", "datasource")
        .containsEntry("name", "datasource");
    for (Map<String, Object> variable : variables.subList(1, variables.size())) {
      check("variable " + variable.get("name"), text(variable.get("definition")));
    }
    Set<Object> ids = new HashSet<>();
    List<String> expressions = new ArrayList<>();
    for (Map<String, Object> panel : maps(dashboard.get("panels"))) {
      String title = text(panel.get("title"));
      assertThat(ids.add(panel.get("id"))).as("id of " + title).isTrue();
      if (!text(panel.get("type")).equals("row")) {
        assertThat(map(panel.get("datasource"))).as(title).containsEntry("uid", "${datasource}");
        for (Map<String, Object> target : maps(panel.get("targets"))) {
          String expression = text(target.get("expr"));
          check(title, expression);
          checkShown(title, expression, text(target.get("legendFormat")));
          expressions.add(expression);
        }
      }
    }
    assertThat(expressions).hasSizeGreaterThan(10);
    assertThat(SCRAPED.keySet())
        .as("each meter is shown")
        .allMatch(
            name ->
                expressions.stream()
                    .anyMatch(
                        expression ->
                            expression.contains(name.replaceAll("_(count|sum|max|bucket)$", ""))));
  }

  @Test
  void givenAlertRules_thenTheirQueriesFindWhatIsPublished() throws IOException {
    Map<String, Object> file;
    try (InputStream text = resource("prometheus-alerts.yml")) {
      file = new Yaml().load(text);
    }
    Set<String> names = new HashSet<>();
    for (Map<String, Object> group : maps(file.get("groups"))) {
      for (Map<String, Object> rule : maps(group.get("rules"))) {
        String name = text(rule.get("alert"));
        assertThat(names.add(name)).as(name).isTrue();
        String expression = text(rule.get("expr"));
        check(name, expression);
        assertThat(text(map(rule.get("labels")).get("severity")))
            .isIn("critical", "warning", "info");
        Map<String, Object> annotations = map(rule.get("annotations"));
        assertThat(annotations).as(name).containsOnlyKeys("summary", "description");
        checkShown(name, expression, text(annotations.get("summary")));
        checkShown(name, expression, text(annotations.get("description")));
      }
    }
    assertThat(names).hasSize(8);
  }

  private static String text(Object value) {
    assertThat(value).isInstanceOf(String.class);
    return (String) value;
  }

  @SuppressWarnings("unchecked") // Parsed, so its keys are strings.
  private static Map<String, Object> map(Object value) {
    assertThat(value).isInstanceOf(Map.class);
    return (Map<String, Object>) value;
  }

  @SuppressWarnings("unchecked") // Parsed, so its keys are strings.
  private static List<Map<String, Object>> maps(Object value) {
    assertThat(value).isInstanceOf(List.class);
    return (List<Map<String, Object>>) value;
  }
}
