package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.mortise.admin.SeesSpi;
import io.mortise.architecture.one.First;
import io.mortise.architecture.one.Mark;
import io.mortise.architecture.one.UsesMarked;
import io.mortise.architecture.two.Marked;
import io.mortise.architecture.two.Second;
import io.mortise.cli.SeesAnotherTool;
import io.mortise.cli.SeesTheEngine;
import io.mortise.internal.engine.KnowsAbove;
import io.mortise.internal.engine.KnowsBelow;
import io.mortise.jdbc.SeesAnotherStore;
import io.mortise.micrometer.MetersTheEngine;
import io.mortise.quorum.ChoosesTheClock;
import io.mortise.quorum.FollowsTheLocale;
import io.mortise.quorum.KeepsNoFacts;
import io.mortise.quorum.ReadsTheClock;
import io.mortise.quorum.StartsAThread;
import io.mortise.quorum.UsesTheCommonPool;
import io.mortise.quorum.hidden.OpenForNobody;
import org.junit.jupiter.api.Test;

/** Each rule notices a class that breaks it, and says what to do. */
class RulesTest {
  private static void assertNoticed(ArchRule rule, String remedy, Class<?>... offenders) {
    assertThatThrownBy(() -> rule.check(new ClassFileImporter().importClasses(offenders)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(offenders[0].getSimpleName())
        .hasMessageContaining(remedy);
  }

  @Test
  void givenApiThatSeesTheSpi_thenItIsNoticed() {
    assertNoticed(Rules.API_STANDS_ALONE, "a type of its own", SeesSpi.class);
  }

  @Test
  void givenStoreThatSeesAnother_thenItIsNoticed() {
    assertNoticed(Rules.STORES_ARE_STRANGERS, "to store-support", SeesAnotherStore.class);
  }

  @Test
  void givenToolThatSeesTheEngine_thenItIsNoticed() {
    assertNoticed(
        Rules.TOOLS_SEE_THE_PUBLIC_API, "add what they lack to the API", SeesTheEngine.class);
    assertNoticed(
        Rules.TOOLS_SEE_THE_PUBLIC_API, "add what they lack to the API", MetersTheEngine.class);
    assertNoticed(
        Rules.TOOLS_SEE_THE_PUBLIC_API, "add what they lack to the API", SeesAnotherTool.class);
  }

  @Test
  void givenCycleOfPackages_thenItIsNoticed() {
    assertNoticed(Rules.NO_PACKAGE_CYCLES, "to the lower one", First.class, Second.class);
  }

  @Test
  void givenTypesOfTheEngineThatKnowEachOther_thenTheyAreNoticed() {
    assertNoticed(Rules.ENGINE_HAS_FLOORS, "leave an effect", KnowsAbove.class, KnowsBelow.class);
  }

  @Test
  void givenCycleThroughAnAnnotation_thenItIsNoticed() {
    assertNoticed(
        Rules.NO_PACKAGE_CYCLES, "to the lower one", UsesMarked.class, Marked.class, Mark.class);
  }

  @Test
  void givenTwoTypesOfOneName_thenTheyAreNoticed() {
    assertNoticed(
        Rules.ONE_NAME_ONE_TYPE,
        "after its store",
        io.mortise.quorum.LockClient.class,
        io.mortise.LockClient.class);
    assertNoticed(
        Rules.ONE_NAME_ONE_TYPE,
        "after its store",
        io.mortise.quorum.LockClient.Lease.class,
        io.mortise.Lease.class);
  }

  @Test
  void givenPublicMemberThatNobodyUses_thenItIsNoticed() {
    assertNoticed(HiddenMembers.CLOSED, "leave out 'public'", OpenForNobody.class);
  }

  @Test
  void givenStoreThatReadsTheSystemsClock_thenItIsNoticed() {
    assertNoticed(Rules.CLOCKS_ARE_INJECTED, "Ticker", ReadsTheClock.class);
    assertNoticed(Rules.CLOCKS_ARE_INJECTED, "InstantSource", ChoosesTheClock.class);
  }

  @Test
  void givenStoreThatRunsSomethingInTheCommonPool_thenItIsNoticed() {
    assertNoticed(
        Rules.COMMON_POOL_IS_THE_APPLICATIONS,
        "give the call an executor",
        UsesTheCommonPool.class);
  }

  @Test
  void givenStoreWhoseThreadsInherit_thenItIsNoticed() {
    assertNoticed(Rules.THREADS_INHERIT_NOTHING, "DaemonThreads", StartsAThread.class);
  }

  @Test
  void givenStoreThatFollowsTheLocale_thenItIsNoticed() {
    assertNoticed(Rules.TEXT_IS_OF_NO_LOCALE, "Locale.ROOT", FollowsTheLocale.class);
  }

  @Test
  void givenStoreThatKeepsNoFacts_thenItIsNoticed() {
    assertNoticed(Rules.STORES_KEEP_FACTS, "version of a text", KeepsNoFacts.class);
  }
}
