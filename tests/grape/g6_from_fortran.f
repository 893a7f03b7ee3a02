C     Two particles one unit apart, as a code for GRAPE-6 in FORTRAN 77
C     asks for their forces and neighbours.
      PROGRAM CALLER
      INTEGER G6_OPEN, G6_CLOSE, G6_SET_J_PARTICLE, G6CALC_LASTHALF2
      INTEGER G6_READ_NEIGHBOUR_LIST, G6_GET_NEIGHBOUR_LIST, G6_NPIPES
      INTEGER ID, I, K, IERR, INDEX(2), NEAR(2), NB, LIST(8)
      REAL*8 X(3,2), V(3,2), A(3,2), DA(3,2), PHI(2), H2(2), ZERO(3)
      DATA INDEX /11, 12/, ZERO /3*0.0D0/, H2 /2*4.0D0/
      ID = 0
      DO 10 I = 1, 2
         DO 5 K = 1, 3
            X(K,I) = 0.0D0
            V(K,I) = 0.0D0
            A(K,I) = 0.0D0
            DA(K,I) = 0.0D0
    5    CONTINUE
         PHI(I) = 0.0D0
   10 CONTINUE
      X(1,2) = 1.0D0
      IF (G6_OPEN(ID) .NE. 0) STOP 1
      IF (G6_NPIPES() .LT. 2) STOP 2
      CALL G6_SET_TUNIT(51)
      CALL G6_SET_XUNIT(51)
      DO 20 I = 1, 2
         IERR = G6_SET_J_PARTICLE(ID, I - 1, INDEX(I), 0.0D0, 0.125D0,
     &        2.0D0, ZERO, ZERO, ZERO, V(1,I), X(1,I))
         IF (IERR .NE. 0) STOP 3
   20 CONTINUE
      CALL G6_SET_TI(ID, 0.0D0)
      CALL G6CALC_FIRSTHALF(ID, 2, 2, INDEX, X, V, A, DA, PHI, 0.0D0,
     &     H2)
      IERR = G6CALC_LASTHALF2(ID, 2, 2, INDEX, X, V, 0.0D0, H2, A, DA,
     &     PHI, NEAR)
      IF (IERR .NE. 0) STOP 4
      IF (ABS(A(1,1) - 2.0D0) .GT. 1.0D-5) STOP 5
      IF (ABS(A(1,2) + 2.0D0) .GT. 1.0D-5) STOP 6
      IF (ABS(PHI(1) + 2.0D0) .GT. 1.0D-5) STOP 7
      IF (NEAR(1) .NE. 12 .OR. NEAR(2) .NE. 11) STOP 8
      IF (G6_READ_NEIGHBOUR_LIST(ID) .NE. 0) STOP 9
      IERR = G6_GET_NEIGHBOUR_LIST(ID, 0, 8, NB, LIST)
      IF (IERR .NE. 0 .OR. NB .NE. 1 .OR. LIST(1) .NE. 12) STOP 10
      IF (G6_CLOSE(ID) .NE. 0) STOP 11
      END
