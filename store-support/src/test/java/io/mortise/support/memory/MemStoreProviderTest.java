package io.mortise.support.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // a client is closed before its time
class MemStoreProviderTest {
  private static final String NAME = "mem:" + MemStoreProviderTest.class.getSimpleName();

  @Test
  void givenTwoClientsOfOneName_thenOneExcludesTheOther() {
    try (LockClient one = LockClient.connect(NAME);
        LockClient other = LockClient.connect(NAME);
        Lease lease = one.lock("m").tryAcquire().orElseThrow()) {
      assertThat(other.lock("m").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenClientsOfDifferentNames_thenTheyShareNothing() {
    try (LockClient one = LockClient.connect(NAME + 1);
        LockClient other = LockClient.connect(NAME + 2);
        Lease lease = one.lock("m").tryAcquire().orElseThrow()) {
      other.lock("m").tryAcquire().orElseThrow().close();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void givenStoreThatItsLastClientHasClosed_thenNothingIsLeftOfIt() {
    try (LockClient one = LockClient.connect(NAME);
        LockClient other = LockClient.connect(NAME)) {
      one.lock("m").tryAcquire().orElseThrow().close();
      one.close();
      assertThat(other.admin().find("m")).isPresent();
    }
    try (LockClient next = LockClient.connect(NAME)) {
      assertThat(next.admin().find("m")).isEmpty();
    }
  }

  @Test
  void givenUnknownParameter_thenItIsRefused() {
    assertThatThrownBy(() -> LockClient.connect(NAME + "?ttl=3s"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ttl");
  }

  @Test
  void givenMisspeltScheme_thenTheMessageNamesThisOne() {
    assertThatThrownBy(() -> LockClient.connect("men:"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Did you mean 'mem:'?")
        .hasMessageContaining("On the class path are: mem.");
  }
}
