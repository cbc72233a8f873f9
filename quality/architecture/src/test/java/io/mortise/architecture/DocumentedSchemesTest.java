package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.LockStoreProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DocumentedSchemesTest {
  private static final Pattern SCHEME = Pattern.compile("`([a-z0-9+:-]+):`");

  @Test
  void givenSchemesOfAllStores_thenTheTableOfSchemesHasThem_andNoOther() throws IOException {
    Set<String> known = new TreeSet<>();
    ServiceLoader.load(LockStoreProvider.class)
        .forEach(provider -> known.addAll(provider.schemes()));
    Set<String> documented = new TreeSet<>();
    Files.readAllLines(Documentation.ROOT.resolve("docs/reference/url-parameters.md")).stream()
        .filter(line -> line.startsWith("| `") && line.endsWith("` |"))
        .flatMap(line -> SCHEME.matcher(line).results())
        .forEach(found -> documented.add(found.group(1)));
    assertThat(documented).isEqualTo(known);
  }
}
