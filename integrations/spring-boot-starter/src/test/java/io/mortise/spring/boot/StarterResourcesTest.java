package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.Ordered;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySourcesPropertyResolver;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/** Files that Spring Boot and editors read name exactly the existing items. */
class StarterResourcesTest {
  private static final ClassLoader LOADER = MortiseAutoConfiguration.class.getClassLoader();
  private static final String PACKAGE = MortiseAutoConfiguration.class.getPackageName();

  private static final Pattern VARIABLE = Pattern.compile("\\bMORTISE_[A-Z0-9_]+\\b");
  private static final Pattern TEXT =
      Pattern.compile("\\.(java|md|sh|html|js|json|properties)$|/[a-z]+$");

  private static List<Class<?>> types() {
    try (Stream<Path> files =
        Files.list(
            Path.of(
                    MortiseAutoConfiguration.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .resolve(PACKAGE.replace('.', '/')))) {
      List<Class<?>> types = new ArrayList<>();
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        // Classes of the other line of Spring Boot do not load here; their annotations can be read.
        if (name.endsWith(".class") && !name.contains("$") && !name.startsWith("package-info")) {
          types.add(Class.forName(PACKAGE + "." + name.replace(".class", ""), false, LOADER));
        }
      }
      return types;
    } catch (ReflectiveOperationException | URISyntaxException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @SuppressWarnings("unchecked") // The parser returns maps and lists of text and numbers.
  private static Map<String, Map<String, Object>> described() throws IOException {
    try (InputStream in =
        LOADER.getResourceAsStream("META-INF/spring-configuration-metadata.json")) {
      Map<String, Object> all =
          JsonParserFactory.getJsonParser()
              .parseMap(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      return ((List<Map<String, Object>>) all.get("properties"))
          .stream()
              .collect(
                  Collectors.toMap(
                      each -> (String) each.get("name"),
                      each -> each,
                      (first, second) -> {
                        throw new IllegalStateException("twice: " + first);
                      },
                      TreeMap::new));
    }
  }

  private static Stream<String> properties(String prefix, Class<?> type) {
    return Arrays.stream(type.getRecordComponents()).flatMap(each -> properties(prefix, each));
  }

  private static Stream<String> properties(String prefix, RecordComponent component) {
    String name =
        prefix + "." + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    return component.getType().isRecord() ? properties(name, component.getType()) : Stream.of(name);
  }

  @Test
  void givenAutoConfigurations_thenSpringBootIsToldOfEach() {
    List<String> names =
        types().stream()
            .filter(type -> type.isAnnotationPresent(AutoConfiguration.class))
            .map(Class::getName)
            .toList();
    assertThat(names).hasSizeGreaterThan(3);
    assertThat(ImportCandidates.load(AutoConfiguration.class, LOADER))
        .filteredOn(name -> name.startsWith(PACKAGE))
        .containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  void givenFailureAnalyzers_thenSpringBootIsToldOfEach() {
    List<Class<?>> analyzers =
        types().stream().filter(FailureAnalyzer.class::isAssignableFrom).toList();
    assertThat(analyzers).hasSizeGreaterThan(2);
    assertThat(
            SpringFactoriesLoader.forDefaultResourceLocation(LOADER)
                .load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {}))
                .stream()
                .map(Object::getClass)
                .filter(type -> type.getName().startsWith(PACKAGE)))
        .containsExactlyInAnyOrderElementsOf(analyzers);
  }

  @Test
  void givenProperties_thenEachIsDescribed() throws IOException {
    Map<String, Map<String, Object>> described = described();
    assertThat(described)
        .containsKeys(properties("mortise", MortiseProperties.class).toArray(String[]::new));
    for (Map<String, Object> each : described.values()) {
      assertThat((String) each.get("description")).as("%s", each).endsWith(".");
      assertThat((String) each.get("type")).as("%s", each).isNotBlank();
    }
    assertThat(
            DurationStyle.detectAndParse((String) described.get("mortise.ttl").get("defaultValue")))
        .isEqualTo(LockClientBuilder.DEFAULT_TTL);
    assertThat(described.get("mortise.locked.order").get("defaultValue"))
        .asString()
        .isEqualTo(Integer.toString(Ordered.LOWEST_PRECEDENCE - 100));
  }

  @Test
  void givenProperties_thenTheReferenceHasEach() throws IOException {
    String page = Files.readString(Path.of("../../docs/reference/spring-boot.md"));
    assertThat(described().keySet())
        .allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
  }

  /**
   * Variables that programs outside of Spring read or set, as far as sources and pages name them.
   */
  private static Set<String> variablesOfTheTool() throws IOException {
    Set<String> variables = new TreeSet<>();
    for (String folder :
        List.of(
            "../../tools/cli/src/main",
            "../../docs",
            "../../release",
            "../../tools/console/src/main")) {
      try (Stream<Path> files = Files.walk(Path.of(folder))) {
        for (Path file : files.filter(StarterResourcesTest::isText).toList()) {
          VARIABLE
              .matcher(Files.readString(file))
              .results()
              .forEach(found -> variables.add(found.group()));
        }
      }
    }
    return variables;
  }

  private static boolean isText(Path file) {
    return Files.isRegularFile(file) && TEXT.matcher(file.toString()).find();
  }

  /** The tool's variables are in the environment of each command that it runs. */
  @Test
  void givenVariablesOfTheTool_thenSpringBootTakesNoneForAProperty() throws IOException {
    Set<String> variables = variablesOfTheTool();
    assertThat(variables)
        .contains("MORTISE_STORE", "MORTISE_LOCK", "MORTISE_TOKEN", "MORTISE_PID", "MORTISE_PAGER");
    Map<String, Object> environment = new TreeMap<>();
    variables.forEach(variable -> environment.put(variable, "value"));
    MutablePropertySources sources = new MutablePropertySources();
    sources.addFirst(new SystemEnvironmentPropertySource("systemEnvironment", environment));
    for (String property : described().keySet()) {
      ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
      for (ConfigurationPropertySource source : ConfigurationPropertySources.from(sources)) {
        assertThat(source.getConfigurationProperty(name)).as(property).isNull();
      }
      assertThat(new PropertySourcesPropertyResolver(sources).getProperty(property)).isNull();
    }
  }
}
