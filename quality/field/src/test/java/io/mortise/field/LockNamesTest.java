package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names that other libraries confused, refused or cut. */
@Tag("long")
class LockNamesTest {
  private static final String LOCK = "\uD83D\uDD12";
  private static final String OPEN_LOCK = "\uD83D\uDD13";

  private static void assertAreLocksOfTheirOwn(FieldStore store, List<String> names) {
    String url = store.newUrl();
    try (LockClient holder = LockClient.connect(url);
        LockClient other = LockClient.connect(url)) {
      for (String name : names) {
        assertThat(holder.lock(name).tryAcquire()).as("'%s' is free", name).isPresent();
      }
      for (String name : names) {
        assertThat(other.lock(name).tryAcquire()).as("'%s' is held", name).isEmpty();
        assertThat(other.admin().find(name).orElseThrow().name()).isEqualTo(name);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report({
    "HubSpot/Blazar-Archive#351",
    "indigo-iam/iam#1136",
    "pingcap/tidb#44203",
  })
  void givenNamesThatACollationTakesForOne_thenEachIsALockOfItsOwn(FieldStore store) {
    assertAreLocksOfTheirOwn(
        store,
        List.of(
            LOCK,
            OPEN_LOCK,
            "lock",
            "lock ",
            "lock\u00A0",
            "Lock",
            "l\u00F6ck",
            "lo\u0308ck",
            "\u00DF",
            "ss"));
  }

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report({
    "rancher/rancher#1383",
    "antirez/redlock-rb#6",
    "ionelmc/python-redis-lock#59",
  })
  void givenNamesOfSlashesColonsAndBraces_thenEachIsALockOfItsOwn(FieldStore store) {
    assertAreLocksOfTheirOwn(
        store,
        List.of(
            "file:///var/lib/x/",
            "file:/var/lib/x",
            "/",
            "//",
            "a{}b",
            "a{b",
            "}a{",
            "{a}{b}",
            "{a}",
            "a",
            "a:b",
            "a::b",
            "%2F"));
  }

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report("lukas-krecan/ShedLock#145")
  void givenLongestName_thenItIsALock_andALongerOneIsRefusedByItsLength(FieldStore store) {
    try (LockClient client = LockClient.connect(store.newUrl())) {
      List<String> longest = List.of("x".repeat(512), "\u00E9".repeat(256));
      for (String name : longest) {
        try (Lease lease = client.lock(name).tryAcquire().orElseThrow()) {
          assertThat(lease.name()).isEqualTo(name);
        }
      }
      for (String name : List.of("x".repeat(513), "\u00E9".repeat(257))) {
        assertThatThrownBy(() -> client.lock(name))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("512");
      }
      for (String name : List.of("a\nb", "a\u0000b", "a\u0007")) {
        assertThatThrownBy(() -> client.lock(name)).isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(FieldStore.class)
  @Report({
    "laravel/framework#41182",
    "CommunitySolidServer/CommunitySolidServer#1487",
    "resque/resque-scheduler#239",
  })
  void givenTwoNamespacesOnOneServer_thenTheirLocksDoNotMeet(FieldStore store) {
    try (LockClient production = LockClient.connect(store.newUrl());
        LockClient staging = LockClient.connect(store.newUrl())) {
      Optional<Lease> first = production.lock("nightly").tryAcquire();
      Optional<Lease> second = staging.lock("nightly").tryAcquire();
      assertThat(Stream.of(first, second)).allMatch(Optional::isPresent);
      first.orElseThrow().close();
      assertThat(second.orElseThrow().isValid()).isTrue();
      assertThat(production.lock("nightly").tryAcquire()).isPresent();
      assertThat(staging.admin().find("nightly").orElseThrow().holders()).hasSize(1);
    }
  }
}
