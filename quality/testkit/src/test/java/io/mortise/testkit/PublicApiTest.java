package io.mortise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.annotation.Beta;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublicApiTest {

  @Test
  void givenExportedType_whenListed_thenTypeAndMembersAppearSorted() {
    assertThat(PublicApi.lines(PublicApi.class))
        .isSorted()
        .contains(
            "io.mortise.testkit.PublicApi: public final class",
            "io.mortise.testkit.PublicApi: public static java.util.List<String> lines(Class<?>)")
        .noneMatch(line -> line.contains("difference("));
  }

  @Test
  void givenSameSignatures_whenVerified_thenPasses(@TempDir Path folder) throws IOException {
    Path golden = Files.write(folder.resolve("core.txt"), PublicApi.lines(Beta.class));

    PublicApi.compare(Beta.class, golden);
  }

  @Test
  void givenGoneAndNewSignature_whenVerified_thenMessageShowsBoth(@TempDir Path folder)
      throws IOException {
    Path golden = Files.write(folder.resolve("core.txt"), List.of("io.mortise.Gone: public class"));

    assertThatThrownBy(() -> PublicApi.compare(Beta.class, golden))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("\n- io.mortise.Gone: public class")
        .hasMessageContaining("\n+ io.mortise.annotation.Beta: ")
        .hasMessageContaining(PublicApi.UPDATE_PROPERTY);
  }
}
