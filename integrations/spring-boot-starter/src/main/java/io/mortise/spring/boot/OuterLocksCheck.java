package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.OuterLocks;
import java.util.Arrays;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Refuses an {@link OuterLocks} bean that no bean takes: beside a client of the application it
 * would have no effect, and two processes could hold the same lock.
 */
final class OuterLocksCheck implements SmartInitializingSingleton {
  private final ConfigurableListableBeanFactory beans;

  OuterLocksCheck(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  @Override
  public void afterSingletonsInstantiated() {
    boolean isClientOpen =
        Arrays.stream(beans.getBeanNamesForType(LockClient.class, true, false))
            .anyMatch(beans::containsSingleton);
    if (!isClientOpen) {
      // A lazy client may take the bean later.
      return;
    }
    for (String outer : beans.getBeanNamesForType(OuterLocks.class, true, false)) {
      if (beans.getDependentBeans(outer).length == 0) {
        throw new LockStoreChoiceException(
            "No LockClient holds the locks of the OuterLocks bean '"
                + outer
                + "': the application makes its client without it.",
            "Take the bean as a parameter where the client is made, and give it to the builder by"
                + " alsoHolding. Or remove one of the two beans.");
      }
    }
  }
}
